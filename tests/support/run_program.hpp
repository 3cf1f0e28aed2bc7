#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace qkv::test {

/// What a run of the program left.
struct Run {
  int status = -1;  // exit status; 128 + signal when a signal ended it
  std::string out;
  std::string err;
};

struct RunOptions {
  std::string input{};                     // standard input
  std::vector<std::string> environment{};  // "NAME=value", added to ours
  std::chrono::milliseconds interrupt{0};  // SIGINT after this time; 0: never
  std::string program{};                   // empty: qkv
};

/// Runs qkv with these arguments to its end, standard input and both outputs being files.
[[nodiscard]] Run run_program(const std::vector<std::string>& arguments, const RunOptions& options = {});

/// Runs it with SIGINT after `options.interrupt`, and again with twice the time until it had come far enough before the
/// signal: how long a start takes is the machine's affair, and no test's. After a minute the last run is what there is.
[[nodiscard]] Run interrupt_underway(const std::vector<std::string>& arguments, RunOptions options,
                                     const std::function<bool(const Run&)>& far_enough);

/// How many lines a text has.
[[nodiscard]] long line_count(const std::string& text);

}  // namespace qkv::test

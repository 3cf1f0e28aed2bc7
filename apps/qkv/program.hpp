#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace qkv::app {

/// Exit statuses; scripts rely on them.
enum ExitStatus : int {
  ok = 0,
  failed = 1,
  usage = 2,
  bad_model = 3,
  bad_input = 4,
  bad_numbers = 5,
  interrupted = 130
};

/// The command line while it is built and read. The command that was named leaves in `run` what is to be done.
struct Program {
  CLI::App cli;
  std::function<int()> run;
};

/// One per command, each in its own file; main.cpp lists them.
void add_generate_command(Program& program);
void add_attention_command(Program& program);
void add_heads_command(Program& program);
void add_time_command(Program& program);
void add_score_command(Program& program);
void add_tokenize_command(Program& program);
void add_info_command(Program& program);
void add_convert_command(Program& program);
void add_completion_command(Program& program);

}  // namespace qkv::app

#pragma once

#include <string>

/// Everything that is not a result goes to stderr through here, and to a log file where one is named.
namespace qkv::app::log {

enum class Color { automatic, always, never };
struct Options {
  int verbosity = 0;  // -1 quiet: warnings and errors only; 0 normal; 1 verbose
  std::string file;
  Color color = Color::automatic;
};

/// Throws Error{failed} naming the file when it cannot be written.
void configure(const Options& options);

void debug(const std::string& message);
void info(const std::string& message);
/// What was asked for and has no place on stdout beside the other results there: said even to who wants quiet.
void result(const std::string& message);
void warn(const std::string& message);
void error(const std::string& message);

/// Whether results on standard output may be coloured: as --color says, else on a terminal unless NO_COLOR is set.
[[nodiscard]] bool colors_stdout();

/// Whether a line that is overwritten as work goes on belongs on stderr: it is a terminal, and nobody asked for quiet.
[[nodiscard]] bool shows_progress();

}  // namespace qkv::app::log

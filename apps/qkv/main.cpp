// qkv: opens a small decoder-only transformer, generates text from it, and shows what is inside.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <string>

#include "help.hpp"
#include "interrupt.hpp"
#include "log.hpp"
#include "option_values.hpp"
#include "output.hpp"
#include "program.hpp"
#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"
#include "version.hpp"

namespace qkv::app {
namespace {

constexpr std::array commands{add_generate_command, add_attention_command, add_heads_command,
                              add_score_command,    add_time_command,      add_tokenize_command,
                              add_info_command,     add_convert_command,   add_completion_command};

struct GlobalOptions {
  bool quiet = false;
  bool verbose = false;
  log::Options log;

  void add_to(CLI::App& cli) {
    auto* quiet_flag = cli.add_flag("-q,--quiet", quiet, "Only warnings and errors on stderr");
    cli.add_flag("-v,--verbose", verbose, "More on stderr")->excludes(quiet_flag);
    cli.add_option("--log-file", log.file, "Append the log to a file")->type_name("FILE");
    add_choice<log::Color>(
        cli, "--color", log.color,
        {{"auto", log::Color::automatic}, {"always", log::Color::always}, {"never", log::Color::never}}, "Colour");
    cli.set_version_flag("--version", version_text);
  }

  [[nodiscard]] log::Options log_options() const {
    auto options = log;
    options.verbosity = verbose ? 1 : quiet ? -1 : 0;
    return options;
  }
};

int exit_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::failed:
      return failed;
    case ErrorCode::usage:
      return usage;
    case ErrorCode::model:
      return bad_model;
    case ErrorCode::input:
      return bad_input;
    case ErrorCode::numbers:
      return bad_numbers;
  }
  return failed;
}

/// One line, whatever a file name or a key may hold.
int report(int status, std::string_view message) {
  log::error(escape_controls(message));
  return status;
}

/// An empty value is most often a variable that is not set: it must not count as an option that is not given. Only a
/// text may be empty, and a list of ids, which is refused as a prompt.
void refuse_empty_values(const CLI::App& app) {
  for (const auto* option : app.get_options()) {
    const auto name = option->get_name();
    if (option->count() == 0 || option->get_type_name() == "TEXT" || name == "--ids") continue;
    for (const auto& value : option->results())
      if (value.empty()) throw CLI::ValidationError(name, "expected a value, found an empty one");
  }
}

std::string command_names(const CLI::App& cli) {
  std::string names;
  for (const auto* command : cli.get_subcommands({}))
    names += fmt::format("{}{}", names.empty() ? "" : ", ", command->get_name());
  return names;
}

/// A usage error, and where to read on. Of a word that nobody expected it is said what should stand in its place.
std::string explain(const CLI::App& cli, const CLI::ParseError& error) {
  const auto given = cli.get_subcommands();
  const auto extras = cli.remaining(true);
  const bool is_word =
      dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !extras.empty() && extras.front().rfind('-', 0) != 0;
  if (given.empty())
    return is_word ? fmt::format("command: expected one of {}, found '{}'; see qkv --help", command_names(cli),
                                 extras.front())
                   : fmt::format("{}; see qkv --help", error.what());
  const auto& command = *given.front();
  if (is_word && command.get_option_no_throw("--prompt") != nullptr)
    return fmt::format("{0}: expected options, found '{1}'; a prompt goes with -p; see qkv {0} --help",
                       command.get_name(), extras.front());
  return fmt::format("{}; see qkv {} --help", error.what(), command.get_name());
}

/// What the command line asks for, or nothing when it was answered by itself (--help, --version, an error).
std::optional<int> parse(Program& program, int argc, const char* const* argv) {
  try {
    program.cli.parse(argc, argv);
    refuse_empty_values(program.cli);
    for (const auto* command : program.cli.get_subcommands()) refuse_empty_values(*command);
    if (program.run) return std::nullopt;
    return report(usage,
                  fmt::format("command: expected one of {}, found none; see qkv --help", command_names(program.cli)));
  } catch (const CLI::Success& answer) {  // --help, --version
    std::ostringstream text;
    program.cli.exit(answer, text, text);
    write_out_now(text.str());
    return ok;
  } catch (const CLI::ParseError& e) {
    return report(usage, explain(program.cli, e));
  }
}

/// A standard stream that the caller closed must not become the next file that is opened: it is bound to a place where
/// using it fails.
void occupy_closed_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int run(int argc, const char* const* argv) {
  Program program;
  program.cli.name("qkv");
  program.cli.description(
      "Open a small decoder-only transformer, generate text from it, and look inside its attention.");
  program.cli.require_subcommand(0, 1);  // that one is needed is said below, in our words
  program.cli.fallthrough();
  program.cli.formatter(std::make_shared<HelpFormatter>());
  GlobalOptions globals;
  globals.add_to(program.cli);
  for (const auto add : commands) add(program);
  for (auto* command : program.cli.get_subcommands({}))
    command->footer("Everywhere: -q/--quiet, -v/--verbose, --log-file FILE, --color auto|always|never, --version");
  if (const auto answered = parse(program, argc, argv)) return *answered;
  log::configure(globals.log_options());
  const auto status = program.run();
  write_out_now("");
  return status;
}

}  // namespace
}  // namespace qkv::app

int main(int argc, char* argv[]) {
  using namespace qkv::app;
  occupy_closed_streams();
  try {
    return run(argc, argv);
  } catch (const qkv::Error& e) {
    return report(exit_status(e.code()), e.what());
  } catch (const Interrupted&) {
    return report(interrupted, "interrupted: the result is partial, no file was written");
  } catch (const std::bad_alloc&) {
    return report(failed, "memory: expected more than the system gives");
  } catch (const std::exception& e) {
    return report(failed, e.what());
  }
}

// qkv completion: shell functions that complete commands and options, made from the command line itself.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "option_values.hpp"
#include "output.hpp"
#include "program.hpp"

namespace qkv::app {
namespace {

/// "-n", "--n-predict", ...
std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* option : command.get_options()) {
    for (const auto& name : option->get_snames()) names.push_back(fmt::format("-{}", name));
    for (const auto& name : option->get_lnames()) names.push_back(fmt::format("--{}", name));
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& cli) {
  std::vector<std::string> names;
  for (const auto* command : cli.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

/// A bash function: the command's own options and the global ones, file names where no option is begun.
std::string bash(const CLI::App& cli) {
  const auto globals = fmt::format("{}", fmt::join(option_names(cli), " "));
  std::string cases;
  for (const auto* command : cli.get_subcommands({}))
    cases += fmt::format("    {}) words='{}' ;;\n", command->get_name(), fmt::join(option_names(*command), " "));
  return fmt::format(
      "_qkv() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} words=''\n"
      "  case ${{COMP_WORDS[1]}} in\n{}    *) words='{}' ;;\n  esac\n"
      "  COMPREPLY=($(compgen -W \"$words {}\" -- \"$word\"))\n"
      "}}\ncomplete -o default -F _qkv qkv\n",
      cases, fmt::join(command_names(cli), " "), globals);
}

std::string fish(const CLI::App& cli) {
  std::string text =
      fmt::format("complete -c qkv -n __fish_use_subcommand -f -a '{}'\n", fmt::join(command_names(cli), " "));
  for (const auto* command : cli.get_subcommands({}))
    for (const auto& name : option_names(*command))
      text += fmt::format(
          "complete -c qkv -n '__fish_seen_subcommand_from {}' {}\n", command->get_name(),
          name.rfind("--", 0) == 0 ? fmt::format("-l {}", name.substr(2)) : fmt::format("-s {}", name.substr(1)));
  return text;
}

}  // namespace

void add_completion_command(Program& program) {
  auto* command = program.cli.add_subcommand("completion", "Write shell completion to standard output");
  auto shell = std::make_shared<std::string>();
  add_name(*command, "shell", *shell, {"bash", "zsh", "fish"}, "Which shell")->required();
  command->callback([&program, shell] {
    program.run = [&program, shell] {
      // zsh reads the functions of bash when told to.
      const std::string preface = *shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "";
      write_out(*shell == "fish" ? fish(program.cli) : preface + bash(program.cli));
      return static_cast<int>(ok);
    };
  });
}

}  // namespace qkv::app

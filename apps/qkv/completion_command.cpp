// qkv completion: shell functions that complete commands, options and their values, made from the command line itself.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "option_values.hpp"
#include "output.hpp"
#include "program.hpp"

namespace qkv::app {
namespace {

/// "-n", "--n-predict", ... of one option; nothing for what is given by its place.
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& name : option.get_snames()) names.push_back(fmt::format("-{}", name));
  for (const auto& name : option.get_lnames()) names.push_back(fmt::format("--{}", name));
  return names;
}

/// What the option's value is, by what its help shows: "table|csv|json" are names to choose from, FILE a file.
struct Value {
  std::vector<std::string> choices;
  bool is_file = false;
};
Value value_of(const CLI::Option& option) {
  Value value;
  std::istringstream kinds(option.get_type_name());
  for (std::string kind; std::getline(kinds, kind, '|');) {
    if (kind.rfind("FILE", 0) == 0 || kind == "DIR")
      value.is_file = true;
    else if (!kind.empty() && kind.front() >= 'a' && kind.front() <= 'z')
      value.choices.push_back(kind);
  }
  return value;
}

bool takes_value(const CLI::Option& option) { return option.get_type_size() != 0 && !option.get_type_name().empty(); }

std::vector<std::string> command_names(const CLI::App& cli) {
  std::vector<std::string> names;
  for (const auto* command : cli.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

/// What can begin a word: options, and the choices for what is given by its place.
std::vector<std::string> words_of(const CLI::App& command) {
  std::vector<std::string> words;
  for (const auto* option : command.get_options()) {
    const auto names = names_of(*option);
    words.insert(words.end(), names.begin(), names.end());
    if (!names.empty()) continue;
    const auto choices = value_of(*option).choices;
    words.insert(words.end(), choices.begin(), choices.end());
  }
  return words;
}

/// Cases of a bash `case` over "command:option": the values to choose from. Where there are none, bash is left with
/// nothing, and falls back to file names.
std::string bash_values(const CLI::App& command, const std::string& name) {
  std::string cases;
  for (const auto* option : command.get_options()) {
    const auto names = names_of(*option);
    if (names.empty() || !takes_value(*option)) continue;
    std::vector<std::string> patterns;
    for (const auto& one : names) patterns.push_back(fmt::format("{}:{}", name, one));
    const auto choices = value_of(*option).choices;
    cases += choices.empty() ? fmt::format("    {}) return ;;\n", fmt::join(patterns, "|"))
                             : fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n",
                                           fmt::join(patterns, "|"), fmt::join(choices, " "));
  }
  return cases;
}

/// A bash function: values after an option that takes one, else the command's own options and the global ones; file
/// names where neither is begun.
std::string bash(const CLI::App& cli) {
  auto values = bash_values(cli, "*");
  std::string words;
  for (const auto* command : cli.get_subcommands({})) {
    values += bash_values(*command, command->get_name());
    words += fmt::format("    {}) words='{}' ;;\n", command->get_name(), fmt::join(words_of(*command), " "));
  }
  const auto names = command_names(cli);
  return fmt::format(
      "_qkv() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} words='' command='' i\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case ${{COMP_WORDS[i]}} in {}) command=${{COMP_WORDS[i]}}; break ;; esac\n"
      "  done\n"
      "  if [[ $word == '=' ]]; then word=''; elif [[ $previous == '=' ]]; then "
      "previous=${{COMP_WORDS[COMP_CWORD-2]}}; fi\n"
      "  case $command:$previous in\n{}  esac\n"
      "  case $command in\n{}    *) words='{}' ;;\n  esac\n"
      "  COMPREPLY=($(compgen -W \"$words {}\" -- \"$word\"))\n"
      "}}\ncomplete -o default -F _qkv qkv\n",
      fmt::join(names, "|"), values, words, fmt::join(names, " "), fmt::join(words_of(cli), " "));
}

/// One line an option: its values where there are some to choose from, files where it names one.
std::string fish_options(const CLI::App& command, const std::string& condition) {
  std::string text;
  for (const auto* option : command.get_options()) {
    const auto value = value_of(*option);
    const auto values = !takes_value(*option) ? std::string()
                        : value.choices.empty()
                            ? std::string(value.is_file ? " -r" : " -x")
                            : fmt::format(" {} -a '{}'", value.is_file ? "-r" : "-x", fmt::join(value.choices, " "));
    const auto names = names_of(*option);
    for (const auto& name : names)
      text += fmt::format("complete -c qkv{} {}{}\n", condition,
                          name.rfind("--", 0) == 0 ? "-l " + name.substr(2) : "-s " + name.substr(1), values);
    if (names.empty() && !value.choices.empty())
      text += fmt::format("complete -c qkv{} -f -a '{}'\n", condition, fmt::join(value.choices, " "));
  }
  return text;
}

std::string fish(const CLI::App& cli) {
  std::string text =
      fmt::format("complete -c qkv -n __fish_use_subcommand -f -a '{}'\n", fmt::join(command_names(cli), " "));
  text += fish_options(cli, "");
  for (const auto* command : cli.get_subcommands({}))
    text += fish_options(*command, fmt::format(" -n '__fish_seen_subcommand_from {}'", command->get_name()));
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

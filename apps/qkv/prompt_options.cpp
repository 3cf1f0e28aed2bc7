#include "prompt_options.hpp"

#include <fmt/format.h>

#include <map>

#include "input.hpp"
#include "log.hpp"
#include "option_values.hpp"
#include "qkv/core/error.hpp"
#include "qkv/core/hexadecimal.hpp"
#include "qkv/model/container.hpp"

namespace qkv::app {
namespace {

/// Replaces \n, \t, \\ and \xHH. Throws Error{usage} for any other backslash.
std::string unescape(std::string_view text) {
  static const std::map<char, char> simple{{'n', '\n'}, {'t', '\t'}, {'\\', '\\'}};
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      bytes += text[at];
      continue;
    }
    const auto after = text.substr(at + 1, 3);
    const auto found = after.empty() ? simple.end() : simple.find(after[0]);
    if (found != simple.end()) {
      bytes += found->second;
      at += 1;
    } else if (after.size() == 3 && after[0] == 'x' && hex_digit(after[1]) >= 0 && hex_digit(after[2]) >= 0) {
      bytes += static_cast<char>(hex_digit(after[1]) * 16 + hex_digit(after[2]));
      at += 3;
    } else {
      throw Error(ErrorCode::usage,
                  fmt::format("--escape: expected \\n, \\t, \\\\ or \\xHH in the prompt, found '\\{}'", after));
    }
  }
  return bytes;
}

}  // namespace

void PromptOptions::add_to(CLI::App& command) {
  text_option_ = command.add_option("-p,--prompt", text, "Prompt")->type_name("TEXT");
  auto* file_option =
      command.add_option("-f,--file", file, "File with the prompt, - for standard input")->type_name("FILE");
  ids_option_ = command.add_option("--ids", ids, "Prompt as token ids (needs no tokenizer)")->type_name("1,2,3");
  text_option_->excludes(file_option)->excludes(ids_option_);
  file_option->excludes(ids_option_);
  add_choice<Bos>(command, "--bos", bos, {{"auto", Bos::automatic}, {"yes", Bos::yes}, {"no", Bos::no}},
                  "Begin token in front: as the tokenizer's rule says, always, never");
  command.add_option("--tokenizer", tokenizer_file, "Tokenizer file, instead of the model's own")->type_name("FILE");
  command.add_flag("--special", special, "Text that spells a special token becomes that token");
  command.add_flag("--escape", escape, "Read \\n, \\t, \\\\ and \\xHH in the prompt");
}

std::optional<Tokenizer> PromptOptions::open_tokenizer(const std::filesystem::path& model) const {
  if (!tokenizer_file.empty()) return Tokenizer::open_file(tokenizer_file);
  return Tokenizer::open(tokenizer_path(model));
}

bool PromptOptions::has_ids() const { return ids_option_->count() > 0; }

void PromptOptions::check_ids_alone(bool has_more_text) const {
  if (!has_ids()) return;
  const auto* about_text = bos == Bos::yes            ? "--bos yes"
                           : special                  ? "--special"
                           : escape && !has_more_text ? "--escape"
                                                      : nullptr;
  if (about_text != nullptr)
    throw Error(
        ErrorCode::usage,
        fmt::format("--ids: expected no {} beside it, which is about how a text is read, found both", about_text));
}

std::string PromptOptions::read_text() const {
  const bool given = text_option_->count() > 0 || !file.empty();
  if (!given && stdin_is_terminal())
    throw Error(ErrorCode::usage, "prompt: expected -p TEXT, -f FILE, --ids or text on standard input, found none");
  if (!given) log::debug("reading the prompt from standard input");
  const auto bytes = text_option_->count() > 0 ? text : read_input(file.empty() ? "-" : file);
  return escape ? unescape(bytes) : bytes;
}

std::vector<std::string> PromptOptions::unescaped(std::vector<std::string> texts) const {
  if (escape)
    for (auto& one : texts) one = unescape(one);
  return texts;
}

std::vector<TokenId> PromptOptions::encode(const Tokenizer& tokenizer, std::string_view bytes,
                                           std::optional<TokenId> bos_token) const {
  auto tokens = tokenizer.encode(bytes, {.add_special = bos == Bos::automatic, .parse_special = special});
  if (bos == Bos::yes) {
    if (!bos_token) throw Error(ErrorCode::usage, "--bos yes: expected a model with a begin token, found none");
    tokens.insert(tokens.begin(), *bos_token);
  }
  if (bos_token && tokens.size() > 1 && tokens[0] == *bos_token && tokens[1] == *bos_token)
    log::warn(fmt::format("the prompt begins with the begin token {} twice; --bos no leaves one out", *bos_token));
  return tokens;
}

std::vector<TokenId> PromptOptions::read_ids(const Tokenizer* tokenizer, std::optional<TokenId> bos_token) const {
  if (has_ids()) return parse_ids(ids, "--ids");
  const auto bytes = read_text();
  if (tokenizer == nullptr)
    throw Error(ErrorCode::model,
                "tokenizer: expected one with the model (tokenizer.json, vocab.json and merges.txt, ...), found none; "
                "--tokenizer FILE names one, --ids needs none");
  return encode(*tokenizer, bytes, bos_token);
}

}  // namespace qkv::app

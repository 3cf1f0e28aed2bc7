#include <array>
#include <string_view>

#include "qkv/tokenizer/parts.hpp"

namespace qkv {
namespace {

/// A token written as its text, or as an object that holds it.
std::optional<std::string> read_token(const JsonReader& config, std::string_view key) {
  if (!config.has(key)) return std::nullopt;
  return config.raw(key).is_object() ? config.object(key).text("content") : config.text(key);
}

/// Whether the class puts the begin token in front where nothing says otherwise. Such folders have no tokenizer.json.
bool class_adds_bos(const JsonReader& config) {
  constexpr std::array<std::string_view, 2> classes = {"Llama", "Gemma"};
  const auto name = config.text_or("tokenizer_class", "");
  for (const auto known : classes)
    if (name.starts_with(known)) return true;
  return false;
}

}  // namespace

void Tokenizer::Parts::apply_config(const JsonReader& config, bool from_model_file) {
  const auto find = [&](std::string_view key) -> std::optional<TokenId> {
    const auto content = read_token(config, key);
    if (!content) return std::nullopt;
    if (const auto* token = added.find(std::string_view(*content))) return token->id;
    const auto id = model->vocabulary().find(*content);
    return id == tokenizing::Vocabulary::none ? std::nullopt : std::optional(id);
  };
  // A name that is no token is as good as none, until it is needed.
  if (const auto id = find("bos_token")) bos = id;
  if (const auto id = find("eos_token")) eos = id;
  if (post_processor && post_processor->decides()) return;
  const auto added_ids = [&](std::string_view flag, bool absent, std::string_view key, std::optional<TokenId> id) {
    std::vector<TokenId> ids;
    if (!config.boolean_or(flag, absent)) return ids;
    if (!id) config.fail(key, "a token of the vocabulary, which is to be added");
    ids.push_back(*id);
    return ids;
  };
  const auto before = added_ids("add_bos_token", from_model_file && class_adds_bos(config), "bos_token", bos);
  const auto after = added_ids("add_eos_token", false, "eos_token", eos);
  if (!before.empty() || !after.empty()) post_processor = tokenizing::make_surrounding_post_processor(before, after);
}

}  // namespace qkv

#include "qkv/tokenizer/added_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "qkv/core/error.hpp"
#include "qkv/tokenizer/component.hpp"
#include "qkv/tokenizer/unicode.hpp"

namespace qkv::tokenizing {
namespace {

/// How much white space `text` ends or begins with, in bytes.
std::size_t white_space_at_end(std::string_view text) {
  const auto size = text.size();
  while (!text.empty() && is_white_space(last_character(text).codepoint))
    text.remove_suffix(last_character(text).length);
  return size - text.size();
}

std::size_t white_space_at_start(std::string_view text) {
  const auto size = text.size();
  while (!text.empty() && is_white_space(first_character(text).codepoint))
    text.remove_prefix(first_character(text).length);
  return size - text.size();
}

bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
  const bool word_before = begin > 0 && is_word(last_character(text.substr(0, begin)).codepoint);
  const bool word_after = end < text.size() && is_word(first_character(text.substr(end)).codepoint);
  return !word_before && !word_after;
}

}  // namespace

std::uint32_t StringFinder::child(std::uint32_t node, char byte) const {
  auto found = nodes_[node].first_child;
  while (found != nowhere && nodes_[found].byte != byte) found = nodes_[found].next_sibling;
  return found;
}

void StringFinder::add(std::string_view text, std::size_t index) {
  if (text.empty()) return;
  first_bytes_[static_cast<unsigned char>(text.front())] = true;
  std::uint32_t node = 0;
  for (const char byte : text) {
    auto next = child(node, byte);
    if (next == nowhere) {
      next = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({nowhere, nodes_[node].first_child, no_index, byte});
      nodes_[node].first_child = next;
    }
    node = next;
  }
  // Two tokens can become alike by normalization: the first counts.
  if (nodes_[node].index == no_index) nodes_[node].index = index;
}

std::optional<StringFinder::Found> StringFinder::find(std::string_view text, std::size_t from,
                                                      const std::function<bool(std::size_t)>& wanted) const {
  if (nodes_.size() == 1) return std::nullopt;
  for (auto begin = from; begin < text.size(); ++begin) {
    if (!first_bytes_[static_cast<unsigned char>(text[begin])]) continue;
    std::optional<Found> longest;
    std::uint32_t node = 0;
    for (auto end = begin; end < text.size();) {
      node = child(node, text[end++]);
      if (node == nowhere) break;
      const auto index = nodes_[node].index;
      if (index != no_index && wanted(index)) longest = {begin, end, index};
    }
    if (longest) return longest;
  }
  return std::nullopt;
}

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const Vocabulary& model, const Normalizer* normalizer,
                         const std::string& where)
    : tokens_(std::move(tokens)), by_id_(tokens_.size()), by_content_(tokens_.size()) {
  std::iota(by_id_.begin(), by_id_.end(), 0U);
  std::iota(by_content_.begin(), by_content_.end(), 0U);
  std::sort(by_id_.begin(), by_id_.end(), [&](auto a, auto b) { return tokens_[a].id < tokens_[b].id; });
  std::sort(by_content_.begin(), by_content_.end(),
            [&](auto a, auto b) { return tokens_[a].content < tokens_[b].content; });
  refuse_contradictions(model, where);
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const auto& token = tokens_[i];
    if (!token.normalized)
      before_.add(token.content, i);
    else
      after_.add(normalizer != nullptr ? normalizer->apply(token.content, most_normal_bytes(token.content.size()))
                                       : token.content,
                 i);
  }
}

void AddedTokens::refuse_contradictions(const Vocabulary& model, const std::string& where) const {
  const auto refuse = [&](const AddedToken& token, std::string_view expected, const std::string& found) {
    throw Error(ErrorCode::model, fmt::format("{}: key 'added_tokens': token {} with id {}: expected {}, found {}",
                                              where, in_quotes(token.content), token.id, expected, found));
  };
  for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
    const auto& first = tokens_[by_id_[i]];
    const auto& second = tokens_[by_id_[i + 1]];
    if (first.id == second.id) refuse(first, "an id of its own", in_quotes(second.content) + " with the same");
    const auto& one = tokens_[by_content_[i]];
    const auto& other = tokens_[by_content_[i + 1]];
    if (one.content == other.content) refuse(one, "a content of its own", fmt::format("id {} with the same", other.id));
  }
  for (const auto& token : tokens_) {
    const auto id = model.find(token.content);
    if (id != Vocabulary::none && id != token.id)
      refuse(token, "the id that the model's vocabulary gives it", std::to_string(id));
    const auto piece = model.piece(token.id);
    if (piece && *piece != token.content)
      refuse(token, "an id that is free", in_quotes(*piece) + " in the model's vocabulary");
  }
}

void AddedTokens::split(Stage stage, std::string_view text, bool parse_special,
                        const std::function<void(std::string_view text, bool at_start)>& on_text,
                        const std::function<void(TokenId)>& on_token) const {
  const auto& finder = stage == Stage::before_normalizer ? before_ : after_;
  const auto wanted = [&](std::size_t index) { return parse_special || !tokens_[index].special; };
  std::size_t done = 0;
  std::size_t from = 0;
  while (const auto found = finder.find(text, from, wanted)) {
    const auto& token = tokens_[found->index];
    from = found->end;
    auto begin = found->begin;
    auto end = found->end;
    if (end <= done) continue;  // an earlier token took it
    if (token.single_word && !stands_alone(text, begin, end)) continue;
    if (token.lstrip) begin -= white_space_at_end(text.substr(0, begin));
    begin = std::max(begin, done);
    if (token.rstrip) end += white_space_at_start(text.substr(end));
    if (begin > done) on_text(text.substr(done, begin - done), done == 0);
    on_token(token.id);
    done = std::max(done, end);
  }
  if (done < text.size()) on_text(text.substr(done), done == 0);
}

const AddedToken* AddedTokens::find(TokenId id) const {
  const auto found = std::lower_bound(by_id_.begin(), by_id_.end(), id,
                                      [&](auto index, TokenId key) { return tokens_[index].id < key; });
  return found == by_id_.end() || tokens_[*found].id != id ? nullptr : &tokens_[*found];
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const auto found = std::lower_bound(by_content_.begin(), by_content_.end(), content,
                                      [&](auto index, std::string_view key) { return tokens_[index].content < key; });
  return found == by_content_.end() || tokens_[*found].content != content ? nullptr : &tokens_[*found];
}

std::vector<AddedToken> read_added_tokens(const JsonReader& file) {
  std::vector<AddedToken> tokens;
  if (!file.has("added_tokens")) return tokens;
  for (const auto& object : file.objects("added_tokens")) {
    AddedToken token;
    token.content = object.text("content");
    token.id = static_cast<TokenId>(object.integer("id", {0, max_token_id}));
    token.special = object.boolean_or("special", false);
    token.normalized = object.boolean_or("normalized", !token.special);
    token.single_word = object.boolean_or("single_word", false);
    token.lstrip = object.boolean_or("lstrip", false);
    token.rstrip = object.boolean_or("rstrip", false);
    refuse_unread(object);
    tokens.push_back(std::move(token));
  }
  return tokens;
}

}  // namespace qkv::tokenizing

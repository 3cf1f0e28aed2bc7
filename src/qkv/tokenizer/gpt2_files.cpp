#include <fmt/format.h>

#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/io/mapped_file.hpp"
#include "qkv/tokenizer/component.hpp"
#include "qkv/tokenizer/parts.hpp"

namespace qkv {
namespace {

using nlohmann::json;
using tokenizing::PieceList;

/// One merge a line, after an optional line that names the version.
PieceList read_merges(std::string_view text, const std::string& where) {
  PieceList merges;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const bool is_version = number == 1 && line.substr(0, 9) == "#version:";
    if (line.empty() || is_version) continue;
    if (!tokenizing::append_merge(merges, line))
      throw Error(ErrorCode::model, fmt::format("{}: line {}: expected two tokens with a space between, found {}",
                                                where, number, tokenizing::in_quotes(line)));
  }
  return merges;
}

}  // namespace

std::unique_ptr<Tokenizer::Parts> Tokenizer::Parts::from_gpt2_files(const std::filesystem::path& vocabulary,
                                                                    const std::filesystem::path& merges) {
  using namespace tokenizing;
  const MappedFile vocabulary_file(vocabulary);
  const MappedFile merges_file(merges);
  TokenizerDocument document;
  document.vocabulary = read_vocabulary(text_of(vocabulary_file.bytes()), vocabulary.string());
  document.merges = read_merges(text_of(merges_file.bytes()), merges.string());
  // What the two files leave unsaid is always the same.
  const JsonReader model(fmt::format("{} with {}", vocabulary.string(), merges.filename().string()),
                         json{{"type", "BPE"}, {"vocab", json::object()}, {"merges", json::array()}});
  const JsonReader words("", json{{"type", "ByteLevel"}, {"add_prefix_space", false}});
  auto parts = std::make_unique<Parts>();
  parts->model = make_token_model(model, document);
  parts->pre_tokenizer = make_pre_tokenizer(words);
  parts->decoder = make_byte_level_decoder();
  constexpr auto end_of_text = "<|endoftext|>";
  const auto id = parts->model->vocabulary().find(end_of_text);
  if (id != Vocabulary::none) {
    AddedToken token{end_of_text, id, true, false, false, false, false};
    parts->added = AddedTokens({std::move(token)}, parts->model->vocabulary(), nullptr, vocabulary.string());
  }
  return parts;
}

}  // namespace qkv

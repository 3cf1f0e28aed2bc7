#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/io/formats/gguf.hpp"
#include "qkv/io/json_reader.hpp"
#include "qkv/tokenizer/component.hpp"
#include "qkv/tokenizer/parts.hpp"

/// The tokenizer in the metadata of a GGUF file: "llama", pieces with scores, or "gpt2", byte-level pieces with merges.
/// For the latter the file only names the rule by which text is cut into words; each name stands for the components
/// that the publisher's tokenizer.json has.
namespace qkv {
namespace {

using nlohmann::json;
using tokenizing::TokenizerDocument;

enum class Words { gpt2, single_digits, single_digit_lines, three_digit_lines };

struct PreTokenizerName {
  std::string_view name;
  Words words;
  bool add_bos = false;        // where no key says
  bool ignore_merges = false;  // a word that is a token stays whole
  bool compose = false;        // Unicode's composed form first
};

constexpr std::array<PreTokenizerName, 24> pre_tokenizers{{
    {"gpt-2", Words::gpt2},
    {"phi-2", Words::gpt2},
    {"mpt", Words::gpt2},
    {"olmo", Words::gpt2, false, false, true},
    {"jais", Words::gpt2},
    {"jina-es", Words::gpt2},
    {"jina-de", Words::gpt2},
    {"jina-v2-es", Words::gpt2},
    {"jina-v2-de", Words::gpt2},
    {"starcoder", Words::single_digits},
    {"refact", Words::single_digits},
    {"command-r", Words::single_digits},
    {"smollm", Words::single_digits},
    {"codeshell", Words::single_digits},
    {"exaone", Words::single_digits},
    {"qwen2", Words::single_digit_lines, false, false, true},
    {"deepseek-r1-qwen", Words::single_digit_lines, false, false, true},
    {"stablelm2", Words::single_digit_lines},
    {"llama3", Words::three_digit_lines, true, true},
    {"llama-v3", Words::three_digit_lines, true, true},
    {"llama-bpe", Words::three_digit_lines, true, true},
    {"falcon3", Words::three_digit_lines, true, true},
    {"dbrx", Words::three_digit_lines},
    {"smaug-bpe", Words::three_digit_lines},
}};

/// A word with one character in front that is neither letter, digit nor line end; digits by `digits`; line ends with
/// what stands before them.
json split_by_lines(std::string_view digits) {
  const auto pattern = fmt::format(
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
      digits);
  return {{"type", "Sequence"},
          {"pretokenizers",
           {{{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}},
            {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}}}}};
}

json words_json(Words words, bool add_prefix_space) {
  const json by_words{
      {"type", "ByteLevel"}, {"add_prefix_space", add_prefix_space}, {"trim_offsets", true}, {"use_regex", true}};
  switch (words) {
    case Words::gpt2:
      return by_words;
    case Words::single_digits:
      return {{"type", "Sequence"}, {"pretokenizers", {{{"type", "Digits"}, {"individual_digits", true}}, by_words}}};
    case Words::single_digit_lines:
      return split_by_lines(R"(\p{N})");
    case Words::three_digit_lines:
      break;
  }
  return split_by_lines(R"(\p{N}{1,3})");
}

/// What "tokenizer.ggml.token_type" says of a token. The numbers are those of SentencePiece's files.
constexpr std::int64_t control = 3;
constexpr std::int64_t user_defined = 4;
constexpr IntegerRange token_types{1, 6};
constexpr std::string_view types_key = "tokenizer.ggml.token_type";
constexpr std::string_view tokens_key = "tokenizer.ggml.tokens";
constexpr std::string_view scores_key = "tokenizer.ggml.scores";
constexpr std::string_view merges_key = "tokenizer.ggml.merges";

class GgufTokenizer {
 public:
  explicit GgufTokenizer(const GgufFile& file) : file_(file), metadata_(file.where(), file.json()) {}

  [[nodiscard]] bool is_there() const {
    const auto model = metadata_.text_or("tokenizer.ggml.model", "none");
    return model != "none" && model != "no_vocab";
  }
  [[nodiscard]] bool has_scores() const {
    const auto model = metadata_.text("tokenizer.ggml.model");
    if (model != "llama" && model != "gpt2") metadata_.fail("tokenizer.ggml.model", "one of llama, gpt2");
    return model == "llama";
  }
  [[nodiscard]] const std::string& where() const { return file_.where(); }

  [[nodiscard]] ScoredPieces pieces() const {
    const auto tokens = file_.strings(tokens_key);
    const auto scores = file_.floats(scores_key);
    check_count(scores_key, scores.size(), tokens.size());
    const auto types = token_kinds(tokens.size());
    ScoredPieces pieces;
    for (std::size_t i = 0; i < tokens.size(); ++i)
      pieces.push_back({std::string(tokens[i]), scores[i], static_cast<PieceKind>(types[i])});
    return pieces;
  }

  [[nodiscard]] PieceOptions piece_options() const {
    if (metadata_.boolean_or("tokenizer.ggml.remove_extra_whitespaces", false))
      metadata_.fail("tokenizer.ggml.remove_extra_whitespaces", "false");
    PieceOptions options;
    options.bos = id("bos");
    options.eos = id("eos");
    options.unknown = id("unknown");
    options.add_bos = adds("bos", options.bos.has_value());
    options.add_eos = adds("eos", false);
    options.add_dummy_prefix = metadata_.boolean_or("tokenizer.ggml.add_space_prefix", true);
    return options;
  }

  [[nodiscard]] TokenizerDocument document() const {
    const auto& rule = pre_tokenizer();
    TokenizerDocument document;
    document.rest = {
        {"model",
         {{"type", "BPE"},
          {"vocab", json::object()},
          {"merges", json::array()},
          {"ignore_merges", rule.ignore_merges}}},
        {"pre_tokenizer", words_json(rule.words, metadata_.boolean_or("tokenizer.ggml.add_space_prefix", false))},
        {"decoder", {{"type", "ByteLevel"}}}};
    if (rule.compose) document.rest["normalizer"] = {{"type", "NFC"}};
    const auto tokens = file_.strings(tokens_key);
    const auto types = token_kinds(tokens.size());
    auto& added = document.rest["added_tokens"] = json::array();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      document.vocabulary.pieces.push_back(tokens[i]);
      document.vocabulary.ids.push_back(static_cast<TokenId>(i));
      if (types[i] == control || types[i] == user_defined)
        added.push_back(added_token(tokens[i], i, types[i] == control));
    }
    add_merges(document);
    return document;
  }

  /// The tokens that the rule puts around a text.
  [[nodiscard]] std::vector<TokenId> before() const { return around("bos", pre_tokenizer().add_bos); }
  [[nodiscard]] std::vector<TokenId> after() const { return around("eos", false); }

 private:
  void check_count(std::string_view key, std::size_t found, std::size_t expected) const {
    if (found != expected)
      throw Error(ErrorCode::model, fmt::format("{}: key '{}': expected {} values, one for each token, found {}",
                                                file_.where(), key, expected, found));
  }

  [[nodiscard]] std::vector<std::int64_t> token_kinds(std::size_t n_tokens) const {
    if (!file_.has(types_key)) return std::vector<std::int64_t>(n_tokens, token_types.min);
    auto types = file_.integers(types_key);
    check_count(types_key, types.size(), n_tokens);
    for (const auto type : types)
      if (type < token_types.min || type > token_types.max)
        throw Error(ErrorCode::model, fmt::format("{}: key '{}': expected types from {} to {}, found {}", file_.where(),
                                                  types_key, token_types.min, token_types.max, type));
    return types;
  }

  [[nodiscard]] std::optional<TokenId> id(std::string_view which) const {
    const auto key = fmt::format("tokenizer.ggml.{}_token_id", which);
    if (!metadata_.has(key)) return std::nullopt;
    return static_cast<TokenId>(metadata_.integer(key, {0, tokenizing::max_token_id}));
  }
  [[nodiscard]] bool adds(std::string_view which, bool absent) const {
    return metadata_.boolean_or(fmt::format("tokenizer.ggml.add_{}_token", which), absent);
  }

  [[nodiscard]] const PreTokenizerName& pre_tokenizer() const {
    const auto wanted = metadata_.text_or("tokenizer.ggml.pre", "");
    std::string names;
    for (const auto& known : pre_tokenizers) {
      if (known.name == wanted) return known;
      names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
    }
    metadata_.fail("tokenizer.ggml.pre", fmt::format("one of {} (--tokenizer FILE names another tokenizer)", names));
  }

  static json added_token(std::string_view content, std::size_t token, bool special) {
    return {{"id", token},          {"content", content}, {"special", special}, {"normalized", false},
            {"single_word", false}, {"lstrip", false},    {"rstrip", false}};
  }

  void add_merges(TokenizerDocument& document) const {
    const auto merges = file_.strings(merges_key);
    for (std::size_t i = 0; i < merges.size(); ++i)
      if (!tokenizing::append_merge(document.merges, merges[i]))
        throw Error(ErrorCode::model,
                    fmt::format("{}: key '{}': merge {}: expected two tokens with a space between, found {}",
                                file_.where(), merges_key, i, tokenizing::in_quotes(merges[i])));
  }

  [[nodiscard]] std::vector<TokenId> around(std::string_view which, bool absent) const {
    if (!adds(which, absent)) return {};
    const auto token = id(which);
    const auto n_tokens = file_.strings(tokens_key).size();
    const auto key = fmt::format("tokenizer.ggml.{}_token_id", which);
    if (!token || static_cast<std::size_t>(*token) >= n_tokens)
      metadata_.fail(key, fmt::format("an id from 0 to {}, to be added to every text", n_tokens - 1));
    return {*token};
  }

  const GgufFile& file_;
  JsonReader metadata_;
};

}  // namespace

std::unique_ptr<Tokenizer::Parts> Tokenizer::Parts::from_gguf(const GgufFile& file) {
  const GgufTokenizer tokenizer(file);
  if (!tokenizer.is_there()) return nullptr;
  if (tokenizer.has_scores()) return from_pieces(tokenizer.pieces(), tokenizer.piece_options(), tokenizer.where());
  auto parts = from_document(tokenizer.document(), tokenizer.where());
  parts->post_processor = tokenizing::make_surrounding_post_processor(tokenizer.before(), tokenizer.after());
  return parts;
}

}  // namespace qkv

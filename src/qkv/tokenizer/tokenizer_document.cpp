#include "qkv/tokenizer/tokenizer_document.hpp"

#include <fmt/format.h>

#include <vector>

#include "qkv/core/error.hpp"
#include "qkv/io/json_error.hpp"
#include "qkv/tokenizer/component.hpp"
#include "qkv/tokenizer/written_score.hpp"

namespace qkv::tokenizing {
namespace {

using nlohmann::json;

/// Takes the parser's events: puts the tables in their lists and makes JSON values of all else.
class DocumentBuilder final : public nlohmann::json_sax<json> {
 public:
  DocumentBuilder(TokenizerDocument& document, const std::string& where, bool is_vocabulary)
      : document_(document), where_(where), is_vocabulary_(is_vocabulary) {}

  bool null() override { return value(nullptr); }
  bool boolean(bool flag) override { return value(flag); }
  bool number_integer(number_integer_t number) override {
    return table_ == Table::piece ? score(static_cast<double>(number)) : value(number);
  }
  bool number_float(number_float_t number, const string_t& text) override {
    return table_ == Table::piece ? score(written_score(text)) : value(number);
  }
  bool binary(binary_t&) override { return value(nullptr); }

  bool number_unsigned(number_unsigned_t number) override {
    if (table_ == Table::piece) return score(static_cast<double>(number));
    if (table_ != Table::vocabulary) return value(number);
    if (number > static_cast<number_unsigned_t>(max_token_id)) refuse_id(number);
    document_.vocabulary.pieces.push_back(key_);
    document_.vocabulary.ids.push_back(static_cast<TokenId>(number));
    return true;
  }

  bool string(string_t& text) override {
    if (table_ == Table::merges) {
      if (!append_merge(document_.merges, text)) refuse_merge(in_quotes(text));
    } else if (table_ == Table::merge_pair) {
      if (n_halves_ == 2) refuse_merge("an array of more than two");
      document_.merges.push_back(text);
      ++n_halves_;
    } else if (table_ == Table::piece) {
      if (n_halves_ != 0) refuse_piece(in_quotes(text));
      document_.vocabulary.pieces.push_back(text);
      ++n_halves_;
    } else {
      return value(std::move(text));
    }
    return true;
  }

  bool start_object(std::size_t) override {
    if (is_vocabulary_ ? open_.empty() && table_ == Table::none : at_model_key("vocab")) {
      if (!is_vocabulary_) add(json::object());
      table_ = Table::vocabulary;
      return true;
    }
    return open(json::object());
  }

  bool end_object() override {
    if (table_ == Table::vocabulary)
      table_ = Table::none;
    else
      open_.pop_back();
    return true;
  }

  bool start_array(std::size_t) override {
    if (table_ == Table::merges || table_ == Table::pieces) {
      table_ = table_ == Table::merges ? Table::merge_pair : Table::piece;
      return true;
    }
    if (!is_vocabulary_ && at_model_key("vocab")) {
      add(json::array());
      table_ = Table::pieces;
      return true;
    }
    if (at_model_key("merges")) {
      add(json::array());
      table_ = Table::merges;
      return true;
    }
    return open(json::array());
  }

  bool end_array() override {
    if (table_ == Table::merge_pair) {
      if (n_halves_ != 2) refuse_merge(fmt::format("an array of {}", n_halves_));
      n_halves_ = 0;
      table_ = Table::merges;
    } else if (table_ == Table::piece) {
      if (n_halves_ != 2) refuse_piece(fmt::format("an array of {}", n_halves_));
      n_halves_ = 0;
      table_ = Table::pieces;
    } else if (table_ == Table::merges || table_ == Table::pieces) {
      table_ = Table::none;
    } else {
      open_.pop_back();
    }
    return true;
  }

  bool key(string_t& name) override {
    if (table_ != Table::vocabulary && open_.back().value->contains(name))
      throw Error(ErrorCode::model, fmt::format("{}: key {}: expected once, found twice", where_, in_quotes(name)));
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const json::exception& error) override {
    throw Error(ErrorCode::model,
                fmt::format("{}: expected JSON, found a syntax error: {}", where_, problem_of(error)));
  }

 private:
  enum class Table { none, vocabulary, merges, merge_pair, pieces, piece };
  struct Open {
    json* value;
    std::string key;  // under which it stands
  };

  bool at_model_key(std::string_view name) const {
    return table_ == Table::none && open_.size() == 2 && open_.back().key == "model" && key_ == name &&
           open_.back().value->is_object();
  }

  /// The second half of a piece.
  bool score(double number) {
    if (n_halves_ != 1) refuse_piece(fmt::format("{} in the place of something else", number));
    document_.scores.push_back(number);
    document_.vocabulary.ids.push_back(static_cast<TokenId>(document_.vocabulary.ids.size()));
    ++n_halves_;
    return true;
  }

  /// A value that is not one of the tables' own.
  bool value(json made) {
    if (table_ == Table::vocabulary) refuse_id(made.dump(-1, ' ', false, json::error_handler_t::replace));
    if (table_ == Table::merge_pair || table_ == Table::merges) refuse_merge(made.dump());
    if (table_ == Table::piece || table_ == Table::pieces)
      refuse_piece(made.dump(-1, ' ', false, json::error_handler_t::replace));
    add(std::move(made));
    return true;
  }

  json* add(json made) {
    if (open_.empty()) {
      document_.rest = std::move(made);
      return &document_.rest;
    }
    auto& parent = *open_.back().value;
    if (parent.is_array()) {
      parent.push_back(std::move(made));
      return &parent.back();
    }
    return &(parent[key_] = std::move(made));
  }

  bool open(json made) {
    // Components may hold each other; nobody nests them this deep but to exhaust the stack.
    constexpr std::size_t deepest = 64;
    if (open_.size() >= deepest)
      throw Error(ErrorCode::model,
                  fmt::format("{}: key {}: expected nesting of at most {} levels", where_, in_quotes(key_), deepest));
    if (table_ != Table::none) return value(std::move(made));
    auto* added = add(std::move(made));
    open_.push_back({added, key_});
    return true;
  }

  template <typename Found>
  [[noreturn]] void refuse_id(const Found& found) const {
    throw Error(ErrorCode::model, fmt::format("{}: key {}: expected an id from 0 to {}, found {}", table_name("vocab"),
                                              in_quotes(key_), max_token_id, found));
  }

  [[noreturn]] void refuse_merge(const std::string& found) const {
    throw Error(ErrorCode::model, fmt::format(R"({}: merge {}: expected "left right" or ["left", "right"], found {})",
                                              table_name("merges"), (document_.merges.size() - n_halves_) / 2, found));
  }

  [[noreturn]] void refuse_piece(const std::string& found) const {
    throw Error(ErrorCode::model, fmt::format(R"({}: piece {}: expected ["piece", score], found {})",
                                              table_name("vocab"), document_.scores.size() - n_halves_ / 2, found));
  }

  std::string table_name(std::string_view key) const {
    return is_vocabulary_ ? where_ : fmt::format("{}: model: key '{}'", where_, key);
  }

  TokenizerDocument& document_;
  const std::string& where_;
  bool is_vocabulary_;
  Table table_ = Table::none;
  std::vector<Open> open_;
  std::string key_;
  std::size_t n_halves_ = 0;  // of the merge or piece that is being read
};

TokenizerDocument read(std::string_view text, const std::string& where, bool is_vocabulary) {
  TokenizerDocument document;
  DocumentBuilder builder(document, where, is_vocabulary);
  json::sax_parse(text.data(), text.data() + text.size(), &builder);
  return document;
}

}  // namespace

TokenizerDocument read_tokenizer_document(std::string_view text, const std::string& where) {
  return read(text, where, false);
}

VocabularyEntries read_vocabulary(std::string_view text, const std::string& where) {
  auto document = read(text, where, true);
  if (!document.rest.is_null())
    throw Error(ErrorCode::model, fmt::format("{}: expected an object of pieces and ids, found a JSON {}", where,
                                              document.rest.type_name()));
  return std::move(document.vocabulary);
}

bool append_merge(PieceList& merges, std::string_view written) {
  const auto space = written.find(' ');
  if (space == std::string_view::npos || written.find(' ', space + 1) != std::string_view::npos) return false;
  merges.push_back(written.substr(0, space));
  merges.push_back(written.substr(space + 1));
  return true;
}

}  // namespace qkv::tokenizing

#include <fmt/format.h>

#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/tokenizer/parts.hpp"

namespace qkv {

std::unique_ptr<Tokenizer::Parts> Tokenizer::Parts::from_json(std::string_view text, const std::string& where) {
  return from_document(tokenizing::read_tokenizer_document(text, where), where);
}

std::unique_ptr<Tokenizer::Parts> Tokenizer::Parts::from_document(tokenizing::TokenizerDocument document,
                                                                  const std::string& where) {
  using namespace tokenizing;
  const JsonReader file(where, std::move(document.rest));
  auto parts = std::make_unique<Parts>();
  // "truncation" and "padding" are about batches of texts for training; "version" has been the same ever since.
  parts->model = make_token_model(file.object("model"), document);
  if (const auto normalizer = file.object_if("normalizer")) parts->normalizer = make_normalizer(*normalizer);
  parts->added = AddedTokens(read_added_tokens(file), parts->model->vocabulary(), parts->normalizer.get(), where);
  if (const auto object = file.object_if("pre_tokenizer")) parts->pre_tokenizer = make_pre_tokenizer(*object);
  const auto is_known = [&](TokenId id) {
    return parts->added.find(id) != nullptr || parts->model->vocabulary().piece(id).has_value();
  };
  if (const auto object = file.object_if("post_processor"))
    parts->post_processor = make_post_processor(*object, is_known);
  const auto decoder = file.object_if("decoder");
  parts->decoder = decoder ? make_decoder(*decoder) : make_joining_decoder();
  if (parts->model->vocabulary().size() == 0 && parts->added.all().empty())
    throw Error(ErrorCode::model, fmt::format("{}: key 'model': expected a vocabulary with at least one token", where));
  return parts;
}

}  // namespace qkv

#include "qkv/tokenizer/token_model.hpp"

#include <array>

#include "qkv/tokenizer/bpe.hpp"
#include "qkv/tokenizer/component.hpp"
#include "qkv/tokenizer/unigram.hpp"
#include "qkv/tokenizer/word_level.hpp"

namespace qkv::tokenizing {
namespace {

using Kind = ComponentKind<std::unique_ptr<const TokenModel>, TokenizerDocument&>;
constexpr std::array kinds = {
    Kind{"BPE", make_bpe},
    Kind{"Unigram", make_unigram},
    Kind{"WordLevel", make_word_level},
    Kind{"WordPiece", make_word_piece},
};

}  // namespace

std::unique_ptr<const TokenModel> make_token_model(const JsonReader& object, TokenizerDocument& document) {
  // The oldest files do not name the type. Only one model has merges, and only one scores.
  const auto type = object.text_or("type", object.has("merges") ? "BPE" : object.has("unk_id") ? "Unigram" : "");
  return make_component(kinds, type, object, document);
}

}  // namespace qkv::tokenizing

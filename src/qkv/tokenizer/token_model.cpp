#include "qkv/tokenizer/token_model.hpp"

#include <array>

#include "qkv/tokenizer/bpe.hpp"
#include "qkv/tokenizer/component.hpp"

namespace qkv::tokenizing {
namespace {

using Kind = ComponentKind<std::unique_ptr<const TokenModel>, TokenizerDocument&>;
constexpr std::array kinds = {
    Kind{"BPE", make_bpe},
};

}  // namespace

std::unique_ptr<const TokenModel> make_token_model(const JsonReader& object, TokenizerDocument& document) {
  // The oldest files do not name the type. Only this model has merges.
  const auto type = object.text_or("type", object.has("merges") ? "BPE" : "");
  return make_component(kinds, type, object, document);
}

}  // namespace qkv::tokenizing

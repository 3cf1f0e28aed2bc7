#include "qkv/tokenizer/post_processor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/tokenizer/component.hpp"
#include "qkv/tokenizer/vocabulary.hpp"

namespace qkv::tokenizing {
namespace {

using IsKnown = std::function<bool(TokenId)>;
using PostProcessorPointer = std::unique_ptr<const PostProcessor>;

class SequencePostProcessor final : public PostProcessor {
 public:
  explicit SequencePostProcessor(std::vector<PostProcessorPointer> parts) : parts_(std::move(parts)) {}
  void apply(std::vector<TokenId>& ids) const override {
    for (const auto& part : parts_) part->apply(ids);
  }
  bool decides() const override {
    return std::any_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->decides(); });
  }

 private:
  std::vector<PostProcessorPointer> parts_;
};

class SurroundingPostProcessor final : public PostProcessor {
 public:
  SurroundingPostProcessor(std::vector<TokenId> before, std::vector<TokenId> after)
      : before_(std::move(before)), after_(std::move(after)) {}
  void apply(std::vector<TokenId>& ids) const override {
    ids.insert(ids.begin(), before_.begin(), before_.end());
    ids.insert(ids.end(), after_.begin(), after_.end());
  }

 private:
  std::vector<TokenId> before_;
  std::vector<TokenId> after_;
};

/// Concerns offsets into the text only, which are not kept.
class NoPostProcessor final : public PostProcessor {
 public:
  void apply(std::vector<TokenId>&) const override {}
  bool decides() const override { return false; }
};

/// The ids that the template puts where `part` names a special token.
std::vector<TokenId> read_special(const JsonReader& part, const JsonReader& specials) {
  const auto name = part.object("SpecialToken").text("id");
  if (!specials.has(name)) part.object("SpecialToken").fail("id", "a key of 'special_tokens'");
  const auto ids = specials.object(name).integers("ids", {0, max_token_id});
  if (ids.empty()) specials.object(name).fail("ids", "at least one id");
  return {ids.begin(), ids.end()};
}

PostProcessorPointer make_template(const JsonReader& object, const IsKnown& is_known) {
  object.ignore("pair");  // for two texts at once
  const auto specials = object.object("special_tokens");
  std::vector<TokenId> before;
  std::vector<TokenId> after;
  bool seen_text = false;
  for (const auto& part : object.objects("single")) {
    if (part.has("Sequence")) {
      if (part.object("Sequence").text("id") != "A") part.object("Sequence").fail("id", "A");
      if (seen_text) part.fail("Sequence", "the text once");
      seen_text = true;
      continue;
    }
    auto& side = seen_text ? after : before;
    for (const auto id : read_special(part, specials)) {
      if (!is_known(id))
        throw Error(ErrorCode::model,
                    fmt::format("{}: key 'ids': expected an id of the vocabulary, found {}", specials.where(), id));
      side.push_back(id);
    }
  }
  if (!seen_text) object.fail("single", "a template that holds the text");
  return std::make_unique<SurroundingPostProcessor>(std::move(before), std::move(after));
}

/// BERT's and its kin: {"cls": ["[CLS]", 101], "sep": ["[SEP]", 102]}.
PostProcessorPointer make_bert(const JsonReader& object, const IsKnown& is_known) {
  // About offsets into the text, which are not kept.
  for (const auto* key : {"trim_offsets", "add_prefix_space"}) object.ignore(key);
  const auto read = [&](std::string_view key) {
    const auto& token = object.raw(key);
    const bool has_form =
        token.is_array() && token.size() == 2 && token[0].is_string() && token[1].is_number_unsigned();
    if (!has_form || token[1].get<std::uint64_t>() > static_cast<std::uint64_t>(max_token_id) ||
        !is_known(token[1].get<TokenId>()))
      object.fail(key, "a token and its id in the vocabulary");
    return std::vector<TokenId>{token[1].get<TokenId>()};
  };
  return make_surrounding_post_processor(read("cls"), read("sep"));
}

PostProcessorPointer make_byte_level(const JsonReader& object, const IsKnown&) {
  for (const auto* key : {"add_prefix_space", "trim_offsets", "use_regex"}) object.ignore(key);
  return std::make_unique<NoPostProcessor>();
}

PostProcessorPointer make_sequence(const JsonReader& object, const IsKnown& is_known) {
  std::vector<PostProcessorPointer> parts;
  for (const auto& part : object.objects("processors")) parts.push_back(make_post_processor(part, is_known));
  return std::make_unique<SequencePostProcessor>(std::move(parts));
}

using Kind = ComponentKind<PostProcessorPointer, const IsKnown&>;
constexpr std::array kinds = {
    Kind{"ByteLevel", make_byte_level}, Kind{"TemplateProcessing", make_template}, Kind{"Sequence", make_sequence},
    Kind{"BertProcessing", make_bert},  Kind{"RobertaProcessing", make_bert},
};

}  // namespace

PostProcessorPointer make_surrounding_post_processor(std::vector<TokenId> before, std::vector<TokenId> after) {
  return std::make_unique<SurroundingPostProcessor>(std::move(before), std::move(after));
}

PostProcessorPointer make_post_processor(const JsonReader& object, const IsKnown& is_known) {
  return make_component(kinds, object.text("type"), object, is_known);
}

}  // namespace qkv::tokenizing

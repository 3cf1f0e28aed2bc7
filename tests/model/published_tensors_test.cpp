// The names that tensors of a family go by in published files, and what stands in old files beside them.

#include <filesystem>
#include <string>
#include <vector>

#include "qkv/model/convert.hpp"
#include "qkv/model/model_files.hpp"
#include "support/catch.hpp"
#include "support/loaded.hpp"
#include "support/refused.hpp"

namespace qkv::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path golden(const std::string& name) { return fs::path(QKV_TEST_DATA) / "models" / name; }

/// A golden folder as a model that can be changed.
TinyModel opened(const std::string& name) {
  const auto files = open_model_files(golden(name));
  TinyModel model;
  std::ifstream config(golden(name) / "config.json");
  model.config = json::parse(config);
  for (const auto& tensor : files.source->tensors())
    model.tensors.push_back(
        {tensor.name, tensor.shape, "F32", {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()}});
  return model;
}

Model load(const TinyModel& model) {
  const TemporaryDirectory directory;
  write_hugging_face(model, directory.path());
  return Model::load(directory.path());
}

std::vector<float> logits_of(const Model& model) {
  Session session(model);
  return copied(session.forward(random_ids(model.config(), 9), Rows::all));
}

/// Without the start where names have it, with it where they have not.
void change_root(TinyModel& model, const std::string& root, const std::vector<std::string>& rootless) {
  for (auto& tensor : model.tensors) {
    const bool begins = tensor.name.rfind(root, 0) == 0;
    if (begins)
      tensor.name.erase(0, root.size());
    else if (std::none_of(rootless.begin(), rootless.end(),
                          [&](const std::string& name) { return tensor.name.rfind(name, 0) == 0; }))
      tensor.name.insert(0, root);
  }
}

struct Published {
  std::string folder;
  std::string root;
  std::string tokens;
  std::vector<std::string> buffers;  // of block 0, as old files have them
};

const std::vector<Published>& published() {
  static const std::vector<Published> all{
      {"gpt_neo", "transformer.", "wte", {"h.0.attn.attention.bias", "h.0.attn.attention.masked_bias"}},
      {"gpt_neox",
       "gpt_neox.",
       "embed_in",
       {"layers.0.attention.bias", "layers.0.attention.masked_bias", "layers.0.attention.rotary_emb.inv_freq"}},
      {"gptj-tied", "transformer.", "wte", {"h.0.attn.bias", "h.0.attn.masked_bias"}},
      {"codegen", "transformer.", "wte", {"h.0.attn.causal_mask"}},
      {"opt-350m", "model.decoder.", "embed_tokens", {}},
      {"bloom", "transformer.", "word_embeddings", {}},
      {"mpt", "transformer.", "wte", {}},
      {"falcon-7b", "transformer.", "word_embeddings", {"h.0.self_attention.rotary_emb.inv_freq"}},
      {"gpt_bigcode-mqa", "transformer.", "wte", {"h.0.attn.bias", "h.0.attn.masked_bias"}},
      {"starcoder2", "model.", "embed_tokens", {"layers.0.self_attn.rotary_emb.inv_freq"}},
      {"phi", "model.", "embed_tokens", {"layers.0.self_attn.rotary_emb.inv_freq"}},
      {"stablelm", "model.", "embed_tokens", {"layers.0.self_attn.rotary_emb.inv_freq"}},
      {"granite", "model.", "embed_tokens", {"layers.0.self_attn.rotary_emb.inv_freq", "rotary_emb.inv_freq"}}};
  return all;
}

std::string head_name(const Published& model) { return model.folder == "gpt_neox" ? "embed_out" : "lm_head"; }

}  // namespace

TEST_CASE("names with and without the root are one model", "[model]") {
  for (const auto& one : published()) {
    CAPTURE(one.folder);
    auto model = opened(one.folder);
    const auto expected = logits_of(load(model));
    change_root(model, one.root, {head_name(one)});
    CHECK(logits_of(load(model)) == expected);
  }
}

TEST_CASE("buffers of old files are ignored by name, and any other tensor is refused", "[model]") {
  for (const auto& one : published()) {
    CAPTURE(one.folder);
    auto model = opened(one.folder);
    const auto expected = logits_of(load(model));
    std::vector<std::string> names;
    for (const auto& buffer : one.buffers) {
      names.push_back(one.root + buffer);
      model.tensors.push_back(random_tensor(names.back(), {1, 1, 4, 4}, 1));
    }
    const auto loaded_model = load(model);
    CHECK(loaded_model.ignored() == names);
    CHECK(logits_of(loaded_model) == expected);
    model.tensors.push_back(random_tensor(one.root + "h.0.more", {4}, 1));
    check_refused(ErrorCode::model, [&] { (void)load(model); }, {"h.0.more", "expected no such tensor"});
  }
}

TEST_CASE("a tied head that is stored as well must be the token embedding", "[model]") {
  for (const auto& one : published()) {
    CAPTURE(one.folder);
    auto model = opened(one.folder);
    if (!load(model).config().head.tied) continue;
    auto head = model.tensor(one.root + one.tokens + ".weight");
    head.name = head_name(one) + ".weight";
    model.tensors.push_back(head);
    CHECK_NOTHROW(load(model));
    model.tensors.back().bytes[3] ^= 1;
    check_refused(ErrorCode::model, [&] { (void)load(model); }, {head.name, "ties the head"});
  }
}

TEST_CASE("a model converted to the native form gives the same logits", "[model]") {
  for (const auto& entry : fs::directory_iterator(fs::path(QKV_TEST_DATA) / "models")) {
    CAPTURE(entry.path().string());
    const auto files = open_model_files(entry.path());
    const TemporaryDirectory directory;
    write_converted(files, plan_conversion(files, std::nullopt), WeightForm::native, directory.path());
    CHECK(logits_of(Model::load(directory.path())) == logits_of(Model::load(entry.path())));
  }
}

}  // namespace qkv::test

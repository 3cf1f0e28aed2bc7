#include "support/gguf_file.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <stdexcept>

namespace qkv::test {
namespace {

std::string raw_text(const std::string& text) { return raw(std::uint64_t{text.size()}) + text; }

template <typename Value>
std::string raw_array(std::uint32_t type, const std::vector<Value>& values) {
  auto bytes = raw(std::uint32_t{9}) + raw(type) + raw(std::uint64_t{values.size()});
  for (const auto& value : values) bytes += raw(value);
  return bytes;
}

std::string transposed(const std::string& bytes, std::size_t rows, std::size_t cols) {
  std::string turned;
  for (std::size_t c = 0; c < cols; ++c)
    for (std::size_t r = 0; r < rows; ++r) turned += bytes.substr((r * cols + c) * sizeof(float), sizeof(float));
  return turned;
}

/// "model.layers.1.self_attn.q_proj.weight" by "model.layers." and the names of the parts.
std::string renamed(const std::string& name, const std::string& block,
                    const std::map<std::string, std::string>& names) {
  static const std::regex form(R"(^(?:(.*\.)(\d+)\.)?(.*)\.(weight|bias)$)");
  std::smatch match;
  if (!std::regex_match(name, match, form)) throw std::runtime_error("no name of a tensor: " + name);
  if (match[1] == block) return "blk." + match[2].str() + "." + names.at(match[3]) + "." + match[4].str();
  return names.at(match.str(3)) + "." + match[4].str();
}

}  // namespace

TinyModel tiny_llama_two_heads() {
  auto model = tiny_llama();
  model.config["num_attention_heads"] = 2;
  model.config["num_key_value_heads"] = 1;
  return model;
}

std::string halves_to_pairs(const std::string& bytes, std::size_t n_heads, std::size_t n_rows) {
  const auto row = bytes.size() / n_rows;
  const auto half = n_rows / n_heads / 2;
  std::string turned;
  for (std::size_t head = 0; head < n_heads; ++head)
    for (std::size_t i = 0; i < half; ++i)
      for (std::size_t part = 0; part < 2; ++part)
        turned += bytes.substr((head * 2 * half + part * half + i) * row, row);
  return turned;
}

void TinyGguf::text(const std::string& key, const std::string& value) {
  keys.emplace_back(key, raw(std::uint32_t{8}) + raw_text(value));
}
void TinyGguf::number(const std::string& key, std::uint32_t value) {
  keys.emplace_back(key, raw(std::uint32_t{4}) + raw(value));
}
void TinyGguf::number(const std::string& key, float value) {
  keys.emplace_back(key, raw(std::uint32_t{6}) + raw(value));
}
void TinyGguf::flag(const std::string& key, bool value) {
  keys.emplace_back(key, raw(std::uint32_t{7}) + std::string(1, value ? '\1' : '\0'));
}
void TinyGguf::texts(const std::string& key, const std::vector<std::string>& values) {
  auto bytes = raw(std::uint32_t{9}) + raw(std::uint32_t{8}) + raw(std::uint64_t{values.size()});
  for (const auto& value : values) bytes += raw_text(value);
  keys.emplace_back(key, bytes);
}
void TinyGguf::floats(const std::string& key, const std::vector<float>& values) {
  keys.emplace_back(key, raw_array(6, values));
}
void TinyGguf::integers(const std::string& key, const std::vector<std::int32_t>& values) {
  keys.emplace_back(key, raw_array(5, values));
}

void TinyGguf::remove(const std::string& key) {
  const auto end = std::remove_if(keys.begin(), keys.end(), [&](const auto& one) { return one.first == key; });
  if (end == keys.end()) throw std::runtime_error("no key " + key);
  keys.erase(end, keys.end());
}

TinyGguf::Tensor& TinyGguf::tensor(const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& one) { return one.name == name; });
  if (found == tensors.end()) throw std::runtime_error("no tensor " + name);
  return *found;
}

std::string TinyGguf::header() const {
  auto bytes = magic + raw(version);
  bytes += raw(n_tensors < 0 ? static_cast<std::int64_t>(tensors.size()) : n_tensors);
  bytes += raw(n_keys < 0 ? static_cast<std::int64_t>(keys.size()) : n_keys);
  for (const auto& [key, value] : keys) bytes += raw_text(key) + value;
  std::size_t end = 0;
  for (const auto& one : tensors) {
    bytes += raw_text(one.name) + raw(static_cast<std::uint32_t>(one.shape.size()));
    for (auto extent = one.shape.rbegin(); extent != one.shape.rend(); ++extent) bytes += raw(*extent);
    const auto offset = one.offset == -1 ? static_cast<std::int64_t>(end) : one.offset;
    bytes += raw(one.type) + raw(offset);
    end = (end + one.bytes.size() + alignment - 1) / alignment * alignment;
  }
  return bytes;
}

std::string TinyGguf::bytes() const {
  auto bytes = header();
  const auto align = [&] { bytes.append((alignment - bytes.size() % alignment) % alignment, '\0'); };
  for (const auto& one : tensors) {
    align();
    bytes += one.bytes;
  }
  return bytes;
}

TinyGguf tiny_llama_gguf() {
  TinyGguf gguf;
  gguf.text("general.architecture", "llama");
  gguf.text("general.name", "tiny");
  gguf.number("llama.block_count", 2U);
  gguf.number("llama.embedding_length", 8U);
  gguf.number("llama.attention.head_count", 2U);
  gguf.number("llama.attention.head_count_kv", 1U);
  gguf.number("llama.context_length", 32U);
  gguf.number("llama.feed_forward_length", 12U);
  gguf.number("llama.attention.layer_norm_rms_epsilon", 1e-6F);
  gguf.number("llama.rope.freq_base", 10000.0F);
  const std::map<std::string, std::string> names{{"model.embed_tokens", "token_embd"},
                                                 {"model.norm", "output_norm"},
                                                 {"lm_head", "output"},
                                                 {"input_layernorm", "attn_norm"},
                                                 {"self_attn.q_proj", "attn_q"},
                                                 {"self_attn.k_proj", "attn_k"},
                                                 {"self_attn.v_proj", "attn_v"},
                                                 {"self_attn.o_proj", "attn_output"},
                                                 {"post_attention_layernorm", "ffn_norm"},
                                                 {"mlp.up_proj", "ffn_up"},
                                                 {"mlp.gate_proj", "ffn_gate"},
                                                 {"mlp.down_proj", "ffn_down"}};
  for (const auto& tensor : tiny_llama_two_heads().tensors) {
    auto bytes = tensor.bytes;
    if (tensor.name.find("q_proj") != std::string::npos) bytes = halves_to_pairs(bytes, 2, 8);
    if (tensor.name.find("k_proj") != std::string::npos) bytes = halves_to_pairs(bytes, 1, 4);
    gguf.tensors.push_back({renamed(tensor.name, "model.layers.", names), tensor.shape, 0, bytes});
  }
  return gguf;
}

TinyGguf tiny_gpt2_gguf() {
  TinyGguf gguf;
  gguf.text("general.architecture", "gpt2");
  gguf.number("gpt2.block_count", 2U);
  gguf.number("gpt2.embedding_length", 8U);
  gguf.number("gpt2.attention.head_count", 2U);
  gguf.number("gpt2.context_length", 16U);
  gguf.number("gpt2.feed_forward_length", 20U);
  gguf.number("gpt2.attention.layer_norm_epsilon", 1e-5F);
  const std::map<std::string, std::string> names{
      {"wte", "token_embd"}, {"wpe", "position_embd"},    {"ln_f", "output_norm"},
      {"ln_1", "attn_norm"}, {"attn.c_attn", "attn_qkv"}, {"attn.c_proj", "attn_output"},
      {"ln_2", "ffn_norm"},  {"mlp.c_fc", "ffn_up"},      {"mlp.c_proj", "ffn_down"}};
  for (const auto& tensor : tiny_gpt2().tensors) {
    const bool is_linear = tensor.name.find(".c_") != std::string::npos && tensor.shape.size() == 2;
    const auto rows = static_cast<std::size_t>(tensor.shape[0]);
    TinyGguf::Tensor stored{renamed(tensor.name, "h.", names), tensor.shape, 0, tensor.bytes};
    if (is_linear) {
      stored.bytes = transposed(tensor.bytes, rows, static_cast<std::size_t>(tensor.shape[1]));
      std::swap(stored.shape[0], stored.shape[1]);
    }
    gguf.tensors.push_back(stored);
  }
  return gguf;
}

}  // namespace qkv::test

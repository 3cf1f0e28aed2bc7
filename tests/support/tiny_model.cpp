#include "support/tiny_model.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <stdexcept>

#include "qkv/model/choices.hpp"
#include "support/numbers.hpp"
#include "support/temporary_directory.hpp"

namespace qkv::test {
namespace {

using nlohmann::json;

template <typename Tensors>
auto find_in(Tensors& tensors, const std::string& name) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const TinyTensor& tensor) { return tensor.name == name; });
  if (found == tensors.end()) throw std::runtime_error("no tensor " + name);
  return found;
}

json scaling_json(const RotaryScaling& scaling) {
  json result{{"kind", name_of(scaling.kind)}};
  if (scaling.kind != RotaryScaling::Kind::none) result["factor"] = scaling.factor;
  if (scaling.kind == RotaryScaling::Kind::llama3) {
    result["low_frequency_factor"] = scaling.low_frequency_factor;
    result["high_frequency_factor"] = scaling.high_frequency_factor;
    result["original_n_ctx"] = static_cast<std::int64_t>(scaling.original_n_ctx);
  }
  return result;
}

json position_json(const PositionConfig& position) {
  json result{{"kind", name_of(position.kind)}};
  if (position.kind == PositionConfig::Kind::rotary) {
    result["theta"] = position.rotary.theta;
    result["n_rotated"] = position.rotary.n_rotated;
    result["layout"] = name_of(position.rotary.layout);
    result["scaling"] = scaling_json(position.rotary.scaling);
  }
  return result;
}

json native_json(const Config& config) {
  const auto& a = config.attention;
  const auto& mlp = config.mlp;
  json tokens{{"eos", config.eos}};
  if (config.bos) tokens["bos"] = *config.bos;
  return {{"model_type", "qkv"},
          {"format_version", 1},
          {"name", "tiny"},
          {"n_layers", config.n_layers},
          {"d_model", config.d_model},
          {"n_vocab", config.n_vocab},
          {"n_ctx", config.n_ctx},
          {"position", position_json(config.position)},
          {"norm",
           {{"kind", name_of(config.norm.kind)},
            {"epsilon", static_cast<double>(config.norm.epsilon)},
            {"bias", config.norm.bias}}},
          {"attention",
           {{"n_heads", a.n_heads},
            {"n_kv_heads", a.n_kv_heads},
            {"head_dim", a.head_dim},
            {"scale", a.scale},
            {"scale_divided_by_layer", a.scale_divided_by_layer},
            {"bias_q", a.bias_q},
            {"bias_k", a.bias_k},
            {"bias_v", a.bias_v},
            {"bias_o", a.bias_o}}},
          {"mlp",
           {{"kind", mlp.gated ? "gated" : "plain"},
            {"activation", name_of(mlp.activation)},
            {"d_ff", mlp.d_ff},
            {"bias_in", mlp.bias_in},
            {"bias_out", mlp.bias_out}}},
          {"residual", "sequential"},
          {"embedding_scale", config.embedding_scale},
          {"residual_scale", config.residual_scale},
          {"logit_scale", config.logit_scale},
          {"head", {{"tied", config.head.tied}, {"bias", config.head.bias}}},
          {"tokens", tokens}};
}

/// Collects tensors, each with a seed of its own.
class Tensors {
 public:
  explicit Tensors(std::uint32_t seed) : seed_(seed * 1000) {}

  void add(const std::string& name, const Shape& shape) { list_.push_back(random_tensor(name, shape, ++seed_)); }
  void add_if(bool wanted, const std::string& name, const Shape& shape) {
    if (wanted) add(name, shape);
  }
  [[nodiscard]] std::vector<TinyTensor> take() { return std::move(list_); }

 private:
  std::uint32_t seed_;
  std::vector<TinyTensor> list_;
};

void add_native_block(Tensors& tensors, const Config& config, const std::string& block) {
  const auto& a = config.attention;
  const auto& mlp = config.mlp;
  const auto d = config.d_model;
  for (const auto* norm : {"attn_norm", "mlp_norm"}) {
    tensors.add(block + norm + ".gain", {d});
    tensors.add_if(config.norm.bias, block + norm + ".bias", {d});
  }
  tensors.add(block + "attn.W_q", {a.q_width(), d});
  tensors.add(block + "attn.W_k", {a.kv_width(), d});
  tensors.add(block + "attn.W_v", {a.kv_width(), d});
  tensors.add(block + "attn.W_o", {d, a.q_width()});
  tensors.add_if(a.bias_q, block + "attn.b_q", {a.q_width()});
  tensors.add_if(a.bias_k, block + "attn.b_k", {a.kv_width()});
  tensors.add_if(a.bias_v, block + "attn.b_v", {a.kv_width()});
  tensors.add_if(a.bias_o, block + "attn.b_o", {d});
  tensors.add(block + "mlp.W_in", {mlp.d_ff, d});
  tensors.add(block + "mlp.W_out", {d, mlp.d_ff});
  tensors.add_if(mlp.gated, block + "mlp.W_gate", {mlp.d_ff, d});
  tensors.add_if(mlp.bias_in, block + "mlp.b_in", {mlp.d_ff});
  tensors.add_if(mlp.bias_in && mlp.gated, block + "mlp.b_gate", {mlp.d_ff});
  tensors.add_if(mlp.bias_out, block + "mlp.b_out", {d});
}

}  // namespace

TinyTensor& TinyModel::tensor(const std::string& name) { return *find_in(tensors, name); }

std::vector<float> TinyModel::numbers(const std::string& name) const {
  const auto tensor = find_in(tensors, name);
  std::vector<float> numbers(tensor->bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), tensor->bytes.data(), tensor->bytes.size());
  return numbers;
}

void TinyModel::remove(const std::string& name) { tensors.erase(find_in(tensors, name)); }

std::string bytes_of(const std::vector<float>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
}

TinyTensor f32_tensor(const std::string& name, const Shape& shape, const std::vector<float>& numbers) {
  return {name, shape, "F32", bytes_of(numbers)};
}

TinyTensor random_tensor(const std::string& name, const Shape& shape, std::uint32_t seed) {
  Numbers numbers(seed);
  return f32_tensor(name, shape, numbers.many(static_cast<std::size_t>(element_count(shape).value()), 0.6F));
}

Config tiny_config() {
  Config config;
  config.n_layers = 2;
  config.d_model = 12;
  config.n_vocab = 17;
  config.n_ctx = 24;
  config.position.kind = PositionConfig::Kind::learned;
  config.attention.n_heads = config.attention.n_kv_heads = 3;
  config.attention.head_dim = 4;
  config.attention.scale = 0.5;
  config.attention.bias_q = config.attention.bias_k = config.attention.bias_v = config.attention.bias_o = true;
  config.mlp = {false, ops::Activation::gelu_tanh, 20, true, true};
  config.head.tied = true;
  return config;
}

TinyModel tiny_native(const Config& config, std::uint32_t seed) {
  Tensors tensors(seed);
  tensors.add("embedding.tokens", {config.n_vocab, config.d_model});
  tensors.add_if(config.position.kind == PositionConfig::Kind::learned, "embedding.positions",
                 {config.n_ctx, config.d_model});
  for (std::int64_t i = 0; i < config.n_layers; ++i)
    add_native_block(tensors, config, "blocks." + std::to_string(i) + ".");
  tensors.add("final_norm.gain", {config.d_model});
  tensors.add_if(config.norm.bias, "final_norm.bias", {config.d_model});
  tensors.add_if(!config.head.tied, "head.W", {config.n_vocab, config.d_model});
  tensors.add_if(config.head.bias, "head.b", {config.n_vocab});
  return {native_json(config), tensors.take()};
}

TinyModel tiny_gpt2() {
  Tensors tensors(2);
  const std::int64_t d = 8;
  const std::int64_t d_ff = 20;
  tensors.add("wte.weight", {11, d});
  tensors.add("wpe.weight", {16, d});
  for (const auto* block : {"h.0.", "h.1."}) {
    const auto linear = [&](const std::string& name, std::int64_t in, std::int64_t out) {
      tensors.add(block + name + ".weight", {in, out});
      tensors.add(block + name + ".bias", {out});
    };
    for (const auto* norm : {"ln_1.weight", "ln_1.bias", "ln_2.weight", "ln_2.bias"})
      tensors.add(std::string(block) + norm, {d});
    linear("attn.c_attn", d, 3 * d);
    linear("attn.c_proj", d, d);
    linear("mlp.c_fc", d, d_ff);
    linear("mlp.c_proj", d_ff, d);
  }
  tensors.add("ln_f.weight", {d});
  tensors.add("ln_f.bias", {d});
  return {{{"model_type", "gpt2"},
           {"n_layer", 2},
           {"n_embd", d},
           {"n_head", 2},
           {"n_positions", 16},
           {"n_inner", d_ff},
           {"vocab_size", 11},
           {"activation_function", "gelu_new"},
           {"layer_norm_epsilon", 1e-5}},
          tensors.take()};
}

TinyModel tiny_llama() {
  Tensors tensors(3);
  const std::int64_t d = 8;
  tensors.add("model.embed_tokens.weight", {11, d});
  for (const auto* block : {"model.layers.0.", "model.layers.1."}) {
    const auto add = [&](const std::string& name, const Shape& shape) { tensors.add(block + name + ".weight", shape); };
    add("input_layernorm", {d});
    add("self_attn.q_proj", {8, d});
    add("self_attn.k_proj", {4, d});
    add("self_attn.v_proj", {4, d});
    add("self_attn.o_proj", {d, 8});
    add("post_attention_layernorm", {d});
    add("mlp.up_proj", {12, d});
    add("mlp.gate_proj", {12, d});
    add("mlp.down_proj", {d, 12});
  }
  tensors.add("model.norm.weight", {d});
  tensors.add("lm_head.weight", {11, d});
  return {{{"model_type", "llama"},
           {"num_hidden_layers", 2},
           {"hidden_size", d},
           {"num_attention_heads", 4},
           {"num_key_value_heads", 2},
           {"max_position_embeddings", 32},
           {"intermediate_size", 12},
           {"vocab_size", 11},
           {"hidden_act", "silu"},
           {"rms_norm_eps", 1e-6},
           {"rope_theta", 10000.0}},
          tensors.take()};
}

void write_native(const TinyModel& model, const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory / "weights");
  write_file(directory / "config.json", model.config.dump(1));
  for (const auto& tensor : model.tensors) {
    auto ending = tensor.dtype;
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    write_file(directory / "weights" / (tensor.name + "." + ending), tensor.bytes);
  }
}

void write_hugging_face(const TinyModel& model, const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  write_file(directory / "config.json", model.config.dump(1));
  write_file(directory / "model.safetensors", safetensors_file(model.tensors));
}

std::string safetensors_file(const std::string& header, const std::string& data) {
  std::string bytes;
  for (auto length = std::uint64_t{header.size()}; bytes.size() < 8; length >>= 8U)
    bytes += static_cast<char>(length & 0xFFU);
  return bytes + header + data;
}

std::string safetensors_file(const std::vector<TinyTensor>& tensors) {
  json header = json::object();
  std::string data;
  for (const auto& tensor : tensors) {
    header[tensor.name] = {{"dtype", tensor.dtype},
                           {"shape", tensor.shape},
                           {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  auto text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // as its own library aligns the data
  return safetensors_file(text, data);
}

}  // namespace qkv::test

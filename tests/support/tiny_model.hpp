#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "qkv/model/config.hpp"
#include "qkv/tensor/shape.hpp"

namespace qkv::test {

/// A tensor as it will stand in a file.
struct TinyTensor {
  std::string name;
  Shape shape;
  std::string dtype;  // as safetensors spells it, "F32"
  std::string bytes;
};

/// A whole model before it is written, so that a test can damage it in one place.
struct TinyModel {
  nlohmann::json config;
  std::vector<TinyTensor> tensors;

  [[nodiscard]] TinyTensor& tensor(const std::string& name);
  [[nodiscard]] std::vector<float> numbers(const std::string& name) const;
  void remove(const std::string& name);
};

[[nodiscard]] std::string bytes_of(const std::vector<float>& numbers);
[[nodiscard]] TinyTensor f32_tensor(const std::string& name, const Shape& shape, const std::vector<float>& numbers);
/// Random numbers, deterministic.
[[nodiscard]] TinyTensor random_tensor(const std::string& name, const Shape& shape, std::uint32_t seed);

/// Two layers of everything that has a bias, learned positions, a plain MLP, a tied head.
[[nodiscard]] Config tiny_config();
/// The config.json and the tensors that belong to it, in the native form.
[[nodiscard]] TinyModel tiny_native(const Config& config = tiny_config(), std::uint32_t seed = 1);
/// As Hugging Face publishes them. No linear weight of the MLP is square.
[[nodiscard]] TinyModel tiny_gpt2();
[[nodiscard]] TinyModel tiny_llama();

/// config.json and weights/, one file per tensor.
void write_native(const TinyModel& model, const std::filesystem::path& directory);
/// config.json and model.safetensors.
void write_hugging_face(const TinyModel& model, const std::filesystem::path& directory);

/// A .safetensors file from its parts, whatever they are.
[[nodiscard]] std::string safetensors_file(const std::string& header, const std::string& data);
/// A valid one.
[[nodiscard]] std::string safetensors_file(const std::vector<TinyTensor>& tensors);

}  // namespace qkv::test

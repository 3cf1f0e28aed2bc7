#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "support/tiny_model.hpp"

namespace qkv::test {

/// Little-endian bytes of a number.
template <typename Number>
[[nodiscard]] std::string raw(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

/// A GGUF file in its parts, so that a test can damage one of them.
struct TinyGguf {
  struct Tensor {
    std::string name;
    Shape shape;  // slowest first, as everywhere but in the file
    std::uint32_t type = 0;
    std::string bytes;
    std::int64_t offset = -1;  // -1: where it belongs
  };
  std::string magic = "GGUF";
  std::uint32_t version = 3;
  std::vector<std::pair<std::string, std::string>> keys;  // with type and value in bytes
  std::vector<Tensor> tensors;
  std::int64_t n_keys = -1;  // -1: as many as there are
  std::int64_t n_tensors = -1;
  std::size_t alignment = 32;

  void text(const std::string& key, const std::string& value);
  void number(const std::string& key, std::uint32_t value);
  void number(const std::string& key, float value);
  void flag(const std::string& key, bool value);
  void texts(const std::string& key, const std::vector<std::string>& values);
  void floats(const std::string& key, const std::vector<float>& values);
  void integers(const std::string& key, const std::vector<std::int32_t>& values);
  void remove(const std::string& key);
  [[nodiscard]] Tensor& tensor(const std::string& name);

  /// Everything before the numbers, not yet aligned.
  [[nodiscard]] std::string header() const;
  [[nodiscard]] std::string bytes() const;
};

/// tiny_llama() with two heads of four, so that there are pairs to be reordered.
[[nodiscard]] TinyModel tiny_llama_two_heads();
/// Rows of W_q or W_k, put from halves of each head into pairs.
[[nodiscard]] std::string halves_to_pairs(const std::string& bytes, std::size_t n_heads, std::size_t n_rows);

/// The same models as tiny_llama_two_heads() and tiny_gpt2(), as a converter to GGUF puts them down: the rows of W_q
/// and W_k reordered for one, the linear weights turned for the other.
[[nodiscard]] TinyGguf tiny_llama_gguf();
[[nodiscard]] TinyGguf tiny_gpt2_gguf();

}  // namespace qkv::test

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/io/mapped_file.hpp"
#include "qkv/io/weight_source.hpp"

namespace qkv {

/// The types of metadata values, by their numbers in the file.
enum class GgufType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

/// One value, still as the file holds it; its length was checked.
struct GgufValue {
  GgufType type = GgufType::u8;  // of the elements, where it is an array
  bool is_array = false;
  std::uint64_t count = 1;
  std::span<const std::byte> bytes;
};

/// A GGUF file of version 2 or 3: key-value metadata, then tensors, their extents from the fastest to the slowest,
/// their numbers aligned, without overlaps, gaps or bytes left over. All counts, lengths and offsets are checked
/// against the file. Immutable; what it gives out points into the file and lives as long as this does.
class GgufFile {
 public:
  /// Whether a file begins like one. False also where it cannot be read.
  [[nodiscard]] static bool recognises(const std::filesystem::path& path);
  /// Throws Error{model} naming file, key or tensor, what was expected and what was found.
  [[nodiscard]] static std::shared_ptr<const GgufFile> open(const std::filesystem::path& path);

  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] std::uint32_t version() const { return version_; }
  [[nodiscard]] const std::map<std::string, GgufValue, std::less<>>& metadata() const { return metadata_; }
  [[nodiscard]] bool has(std::string_view key) const { return metadata_.find(key) != metadata_.end(); }

  /// The metadata as one JSON object, for a JsonReader. Arrays longer than any list of layers become a text that says
  /// what they are.
  [[nodiscard]] nlohmann::json json() const;
  /// Long arrays. Throws Error{model} when the key is missing or its elements are of another kind.
  [[nodiscard]] std::vector<std::string_view> strings(std::string_view key) const;
  [[nodiscard]] std::vector<float> floats(std::string_view key) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view key) const;

  /// In the order of their names, shapes slowest first.
  [[nodiscard]] const std::vector<StoredTensor>& tensors() const { return tensors_; }

 private:
  explicit GgufFile(const std::filesystem::path& path);
  [[nodiscard]] const GgufValue& array(std::string_view key, std::string_view expected) const;

  MappedFile file_;
  std::string where_;
  std::uint32_t version_ = 0;
  std::map<std::string, GgufValue, std::less<>> metadata_;
  std::vector<StoredTensor> tensors_;
};

}  // namespace qkv

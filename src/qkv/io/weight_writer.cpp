#include "qkv/io/weight_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>

#include "qkv/core/checked.hpp"
#include "qkv/core/error.hpp"
#include "qkv/io/sink.hpp"

namespace qkv {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers, written as they lie");

class RawFilesWriter : public WeightWriter {
 public:
  explicit RawFilesWriter(fs::path folder) : folder_(std::move(folder)) {
    std::error_code error;
    fs::create_directory(folder_, error);
    if (error)
      throw Error(ErrorCode::failed, fmt::format("{}: cannot be written: {}", folder_.string(), error.message()));
  }

  void begin(const PlannedTensor& tensor) override {
    file_.emplace(folder_ / fmt::format("{}.{}", tensor.name, name_of(tensor.dtype)));
  }
  void write(std::string_view bytes) override { file_->write(bytes); }
  void end() override {
    file_->commit();
    file_.reset();
  }
  void finish() override {}

 private:
  fs::path folder_;
  std::optional<AtomicFile> file_;
};

/// Eight bytes with the length of the header, and the header, as long as a multiple of eight.
std::string safetensors_header(std::span<const PlannedTensor> plan) {
  auto header = nlohmann::ordered_json::object();
  std::int64_t first = 0;
  for (const auto& tensor : plan) {
    std::string dtype(name_of(tensor.dtype));
    std::transform(dtype.begin(), dtype.end(), dtype.begin(), [](unsigned char c) { return std::toupper(c); });
    const auto end = first + tensor.byte_count();
    header[tensor.name] = {{"dtype", dtype}, {"shape", tensor.shape}, {"data_offsets", {first, end}}};
    first = end;
  }
  auto text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // so that the numbers are aligned
  const std::uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

class SafetensorsFileWriter : public WeightWriter {
 public:
  SafetensorsFileWriter(const fs::path& path, std::span<const PlannedTensor> plan) : file_(path) {
    file_.write(safetensors_header(plan));
  }

  void begin(const PlannedTensor&) override {}
  void write(std::string_view bytes) override { file_.write(bytes); }
  void end() override {}
  void finish() override { file_.commit(); }

 private:
  AtomicFile file_;
};

}  // namespace

std::int64_t PlannedTensor::byte_count() const {
  const auto count = element_count(shape);
  const auto bytes = count ? checked_mul(*count, static_cast<std::int64_t>(size_of(dtype))) : std::nullopt;
  if (!bytes)
    throw Error(ErrorCode::failed,
                fmt::format("tensor '{}': expected a size that fits 64 bits, found {}", name, to_string(shape)));
  return *bytes;
}

std::unique_ptr<WeightWriter> raw_files_writer(const fs::path& directory) {
  return std::make_unique<RawFilesWriter>(directory / "weights");
}

std::unique_ptr<WeightWriter> safetensors_file_writer(const fs::path& directory, std::span<const PlannedTensor> plan) {
  return std::make_unique<SafetensorsFileWriter>(directory / "model.safetensors", plan);
}

}  // namespace qkv

#include "qkv/io/formats/raw_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "qkv/core/error.hpp"
#include "qkv/io/mapped_file.hpp"

namespace qkv {
namespace {

class RawFiles : public WeightSource {
 public:
  explicit RawFiles(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> paths;
    std::error_code error;
    for (auto entry = std::filesystem::directory_iterator(folder, error);
         !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
      paths.push_back(entry->path());
    if (error) throw Error(ErrorCode::model, fmt::format("{}: cannot be read: {}", folder.string(), error.message()));
    std::sort(paths.begin(), paths.end(), [](const auto& a, const auto& b) { return a.stem() < b.stem(); });
    for (const auto& path : paths) add(path);
  }

  [[nodiscard]] const std::vector<StoredTensor>& tensors() const override { return tensors_; }
  void release(const StoredTensor& tensor) const override { release_pages(tensor.bytes); }
  [[nodiscard]] bool knows_shapes() const override { return false; }

 private:
  void add(const std::filesystem::path& path) {
    const auto ending = path.extension().string();
    const auto dtype = ending.empty() ? std::nullopt : dtype_from_name(std::string_view(ending).substr(1));
    if (!dtype || !is_weight_dtype(*dtype))
      throw Error(ErrorCode::model,
                  fmt::format("{}: expected a file named <tensor>.f32, .f16 or .bf16", path.string()));
    const auto name = path.stem().string();
    if (!tensors_.empty() && tensors_.back().name == name)
      throw Error(ErrorCode::model,
                  fmt::format("{}: tensor '{}' is also in {}", path.string(), name, tensors_.back().file));
    const auto& file = files_.emplace_back(path);
    const auto size = file.bytes().size();
    const auto width = size_of(*dtype);
    if (size % width != 0)
      throw Error(ErrorCode::model,
                  fmt::format("{}: expected a multiple of {} bytes, found {}", path.string(), width, size));
    tensors_.push_back({name, *dtype, {static_cast<std::int64_t>(size / width)}, file.bytes(), path.string()});
  }

  std::vector<MappedFile> files_;
  std::vector<StoredTensor> tensors_;
};

}  // namespace

WeightFormat raw_files_format() {
  return {"raw files",
          [](const std::filesystem::path& directory) {
            std::error_code ignored;
            return std::filesystem::is_directory(directory / "weights", ignored);
          },
          [](const std::filesystem::path& directory) -> std::unique_ptr<WeightSource> {
            return std::make_unique<RawFiles>(directory / "weights");
          }};
}

}  // namespace qkv

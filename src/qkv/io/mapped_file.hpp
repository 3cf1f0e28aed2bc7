#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>

namespace qkv {

/// A whole file, read-only, mapped into memory. Pages are read when they are first touched.
class MappedFile {
 public:
  /// Throws Error{model} naming the file when it cannot be opened, is not a regular file, or cannot be mapped.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }
  /// Whether these bytes are some of the file's.
  [[nodiscard]] bool holds(std::span<const std::byte> range) const {
    const std::less_equal<> no_later;
    return no_later(data_, range.data()) && no_later(range.data() + range.size(), data_ + size_);
  }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Reads the pages of a mapped range into memory now, so that nobody waits for them later.
void read_pages(std::span<const std::byte> range);

/// Lets the whole pages of a mapped range go. When they are touched again they come from the file.
void release_pages(std::span<const std::byte> range);

}  // namespace qkv

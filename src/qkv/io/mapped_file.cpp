#include "qkv/io/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "qkv/core/error.hpp"

namespace qkv {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw Error(ErrorCode::model,
              fmt::format("{}: cannot be opened: {}", path.string(), std::generic_category().message(error)));
}

/// Closes the descriptor on every way out; the mapping outlives it.
class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) fail(path, errno);
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  std::error_code ignored;  // opening a pipe or a device would wait, or never end
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
    throw Error(ErrorCode::model, fmt::format("{}: expected a regular file", path.string()));
  const Descriptor file(path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail(path, errno);
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;  // an empty file cannot be mapped, and need not be
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) fail(path, errno);
  data_ = static_cast<const std::byte*>(address);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void read_pages(std::span<const std::byte> range) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(range.data());
  const auto begin = address / page * page;
#ifdef MADV_POPULATE_READ  // one system call instead of a fault per page, from Linux 5.14 on
  if (::madvise(reinterpret_cast<void*>(begin), address + range.size() - begin, MADV_POPULATE_READ) == 0) return;
#endif
  for (std::size_t at = 0; at < range.size(); at += page) {
    const volatile auto touched = range[at];
    (void)touched;
  }
}

void release_pages(std::span<const std::byte> range) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(range.data());
  const auto begin = (address + page - 1) / page * page;
  const auto end = (address + range.size()) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);  // a hint: may fail
}

}  // namespace qkv

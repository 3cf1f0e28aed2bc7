#pragma once

#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qkv {

/// Where bytes go, one after the other.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Throws Error{failed} naming the place when they cannot be written.
  virtual void write(std::string_view bytes) = 0;
};

/// A file that appears under its name only when it is complete: it is written under a temporary name beside it, and
/// renamed by commit(). Without commit() (an error, an interrupt) the temporary file is removed and nothing is left. A
/// symbolic link is followed; a device or a pipe is written as it is.
class AtomicFile : public Sink {
 public:
  /// Throws Error{failed} naming the file when nothing can be written there.
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile() override;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes) override;
  /// Makes the file visible. Throws Error{failed} when the last bytes do not reach it.
  void commit();

 private:
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty for a device
  std::vector<char> buffer_;
  std::FILE* file_ = nullptr;
};

}  // namespace qkv

#pragma once

#include <filesystem>
#include <vector>

namespace qkv {

/// A directory that appears under its name only when it is complete: it is filled under a temporary name beside it, and
/// renamed by commit(). Without commit() (an error, an interrupt) the temporary one is removed and nothing is left.
class NewDirectory {
 public:
  /// Throws Error{failed} naming the directory when none can be made there.
  explicit NewDirectory(std::filesystem::path target);
  ~NewDirectory();
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;

  /// Where to write until then.
  [[nodiscard]] const std::filesystem::path& path() const { return temporary_; }

  /// Gives it its name, where nothing or an empty directory is. Throws Error{failed} when something else is there.
  void commit();
  /// Gives it the name of another directory, of which `replaced`, paths below it, is removed in that order. Anything
  /// else is never removed: then the other directory stays, under a name that the Error{failed} tells.
  void commit_over(const std::vector<std::filesystem::path>& replaced);

 private:
  void rename(const std::filesystem::path& from, const std::filesystem::path& to) const;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  bool committed_ = false;
};

}  // namespace qkv

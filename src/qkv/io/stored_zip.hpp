#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace qkv {

/// The entries of a zip archive, by name.
using ZipEntries = std::map<std::string, std::span<const std::byte>, std::less<>>;

/// Reads the directory of a zip archive whose entries are stored as they are, as PyTorch writes it; their bytes are
/// parts of `archive`. Everything is checked against the archive: both headers of an entry must agree, entries must not
/// overlap, and nothing compressed or encrypted is taken, so that no entry is larger than the file. Throws Error{model}
/// that begins with `where`.
[[nodiscard]] ZipEntries read_stored_zip(std::span<const std::byte> archive, const std::string& where);

}  // namespace qkv

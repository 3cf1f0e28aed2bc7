#include "qkv/io/formats/pytorch.hpp"

#include <fmt/format.h>

#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "qkv/core/checked.hpp"
#include "qkv/core/utf8.hpp"
#include "qkv/io/formats/fail.hpp"
#include "qkv/io/mapped_file.hpp"
#include "qkv/io/shard_index.hpp"
#include "qkv/io/stored_zip.hpp"
#include "qkv/io/tensor_pickle.hpp"

namespace qkv {
namespace {

namespace fs = std::filesystem;
using Bytes = std::span<const std::byte>;

class Pytorch : public WeightSource {
 public:
  std::vector<MappedFile> files;
  std::deque<std::vector<std::byte>> ordered;  // what did not lie in order
  std::vector<StoredTensor> all;
  [[nodiscard]] const std::vector<StoredTensor>& tensors() const override { return all; }
  void release(const StoredTensor& tensor) const override {
    for (const auto& file : files)
      if (file.holds(tensor.bytes)) release_pages(tensor.bytes);
  }
};

/// The strides of numbers that lie in order, for a shape whose product is known to fit.
Shape strides_in_order(const Shape& shape) {
  Shape strides(shape.size());
  std::int64_t stride = 1;
  for (auto i = shape.size(); i-- > 0; stride *= shape[i]) strides[i] = stride;
  return strides;
}

/// One file: reads its archive, and hands its tensors over.
class PytorchFile {
 public:
  PytorchFile(std::string where, Bytes archive, Pytorch& source)
      : where_(std::move(where)), archive_(archive), source_(source) {
    refuse_older_form();
    entries_ = read_stored_zip(archive, where_);
    const auto pickle = find_pickle();
    for (const auto& tensor : read_tensor_pickle(pickle, fmt::format("{}: data.pkl", where_))) add(tensor);
  }

 private:
  void refuse_older_form() const {
    if (!archive_.empty() && archive_[0] == std::byte{0x80})
      fail(where_,
           "expected a zip archive, as PyTorch writes it since version 1.6, found the older form, a bare pickle; "
           "torch.save(torch.load(FILE), FILE) with a newer PyTorch turns it into one");
  }

  /// The entry that ends with "/data.pkl", which gives the folder its name.
  [[nodiscard]] Bytes find_pickle() {
    constexpr std::string_view ending = "/data.pkl";
    const std::pair<const std::string, Bytes>* pickle = nullptr;
    for (const auto& entry : entries_) {
      const std::string_view name = entry.first;
      if (name.size() < ending.size() || name.substr(name.size() - ending.size()) != ending) continue;
      if (pickle != nullptr) fail(where_, "expected one entry 'data.pkl', found several");
      pickle = &entry;
    }
    if (pickle == nullptr) fail(where_, "expected a zip archive with an entry 'data.pkl', found none in it");
    folder_ = pickle->first.substr(0, pickle->first.size() - ending.size());
    const auto order = entries_.find(folder_ + "/byteorder");
    if (order != entries_.end()) check_byte_order(order->second);
    return pickle->second;
  }

  void check_byte_order(Bytes bytes) const {
    const std::string_view order(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (order != "little")
      fail(where_, fmt::format("byteorder: expected little, found '{}'", escape_controls(order.substr(0, 20))));
  }

  void add(const PickledTensor& tensor) {
    what_ = fmt::format("{}: tensor '{}'", where_, escape_controls(tensor.name));
    const auto storage = storage_of(tensor);
    const auto width = static_cast<std::int64_t>(size_of(tensor.dtype));
    const auto count = checked_count(tensor);
    const auto begin = storage.subspan(static_cast<std::size_t>(tensor.offset * width));
    const auto bytes = lies_in_order(tensor) ? begin.subspan(0, static_cast<std::size_t>(count * width))
                                             : put_in_order(tensor, begin, count);
    source_.all.push_back({tensor.name, tensor.dtype, tensor.shape, bytes, where_});
  }

  [[nodiscard]] Bytes storage_of(const PickledTensor& tensor) const {
    const auto name = fmt::format("{}/data/{}", folder_, tensor.storage);
    const auto entry = entries_.find(name);
    if (entry == entries_.end())
      fail(what_, fmt::format("expected its numbers in '{}', found no such entry", escape_controls(name)));
    const auto size = tensor.storage_count < 0 ? std::nullopt : byte_count(tensor.dtype, tensor.storage_count);
    if (!size || static_cast<std::uint64_t>(*size) != entry->second.size())
      fail(what_, fmt::format("expected {} {} in '{}', found {} bytes", tensor.storage_count, name_of(tensor.dtype),
                              escape_controls(name), entry->second.size()));
    return entry->second;
  }

  /// How many numbers the tensor has, once its offset, extents and strides were found to stay inside the storage.
  [[nodiscard]] std::int64_t checked_count(const PickledTensor& tensor) const {
    const auto refuse = [&](std::string_view found) {
      fail(what_,
           fmt::format("expected extents and strides inside its storage of {} numbers, found {} with strides {} "
                       "from number {} on ({})",
                       tensor.storage_count, to_string(tensor.shape), to_string(tensor.strides), tensor.offset, found));
    };
    const auto count = element_count(tensor.shape);
    if (tensor.strides.size() != tensor.shape.size()) refuse("not as many strides as extents");
    if (!count) refuse("extents whose product does not fit");
    if (tensor.offset < 0 || tensor.offset > tensor.storage_count) refuse("the offset lies outside");
    if (*count == 0) return 0;
    if (*count > tensor.storage_count) refuse("more numbers than there are");
    auto last = tensor.offset;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      const auto reach = checked_mul(tensor.shape[i] - 1, tensor.strides[i]);
      if (tensor.strides[i] < 0 || !reach || *reach >= tensor.storage_count - last)
        refuse("the last number lies outside");
      last += *reach;
    }
    return *count;
  }

  /// True where there is nothing to put in order: the extents beside a 0 need not have a product.
  static bool lies_in_order(const PickledTensor& tensor) {
    if (element_count(tensor.shape) == 0) return true;
    const auto in_order = strides_in_order(tensor.shape);
    for (std::size_t i = 0; i < tensor.shape.size(); ++i)
      if (tensor.shape[i] != 1 && tensor.strides[i] != in_order[i]) return false;
    return true;
  }

  Bytes put_in_order(const PickledTensor& tensor, Bytes from, std::int64_t count) {
    const auto width = size_of(tensor.dtype);
    const auto size = static_cast<std::size_t>(count) * width;
    if (size > archive_.size() - ordered_bytes_)
      fail(what_, fmt::format("expected at most {} bytes that do not lie in order, as the file is long, found more",
                              archive_.size()));
    ordered_bytes_ += size;
    auto& to = source_.ordered.emplace_back(size);
    const auto in_order = strides_in_order(tensor.shape);
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t at = 0;
      for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis)
        at += i / in_order[axis] % tensor.shape[axis] * tensor.strides[axis];
      std::memcpy(to.data() + static_cast<std::size_t>(i) * width, from.data() + static_cast<std::size_t>(at) * width,
                  width);
    }
    return to;
  }

  std::string where_;
  Bytes archive_;
  Pytorch& source_;
  ZipEntries entries_;
  std::string folder_;
  std::string what_;  // the tensor at hand
  std::size_t ordered_bytes_ = 0;
};

}  // namespace

std::unique_ptr<WeightSource> open_pytorch(const std::vector<fs::path>& files) {
  auto source = std::make_unique<Pytorch>();
  for (const auto& path : files) {
    source->files.emplace_back(path);
    const PytorchFile file(path.string(), source->files.back().bytes(), *source);
  }
  sort_by_name(source->all);
  return source;
}

WeightFormat pytorch_format() {
  return {"PyTorch", [](const fs::path& directory) { return has_file_or_shards(directory, "pytorch_model.bin"); },
          [](const fs::path& directory) { return open_file_or_shards(directory, "pytorch_model.bin", open_pytorch); }};
}

}  // namespace qkv

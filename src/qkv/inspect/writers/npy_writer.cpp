#include "qkv/inspect/writers/npy_writer.hpp"

#include <fmt/format.h>

#include <string>

#include "qkv/inspect/writers/raw_numbers.hpp"

namespace qkv {
namespace {

/// Magic, version, header length and header, together a multiple of 64 bytes, as numpy.lib.format describes them.
std::string npy_header(const Shape& shape) {
  constexpr std::size_t prefix = 10;
  constexpr std::size_t alignment = 64;
  std::string extents;
  for (const auto extent : shape) extents += fmt::format("{}, ", extent);
  auto header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", extents);
  const auto used = prefix + header.size() + 1;
  header.append((alignment - used % alignment) % alignment, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xFFU);
  bytes += static_cast<char>(header.size() >> 8U);
  return bytes + header;
}

class NpyWriter : public TableWriter {
 public:
  explicit NpyWriter(Sink& sink) : sink_(sink) {}
  void begin(const TableDescription& description) override { sink_.write(npy_header(description.shape())); }
  void row(std::span<const float> numbers) override { sink_.write(raw_numbers(numbers)); }
  void end() override {}

 private:
  Sink& sink_;
};

}  // namespace

std::unique_ptr<TableWriter> npy_writer(Sink& sink) { return std::make_unique<NpyWriter>(sink); }

}  // namespace qkv

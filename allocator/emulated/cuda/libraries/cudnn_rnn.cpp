// libcudnn 9: recurrent networks, as cudnn_adv_v9.h declares them. The weights' space is the sum of the matrices and
// biases, which frameworks lay out in it. What the real library keeps and needs besides is not documented; it follows
// from the sizes that a program printed with cuDNN 7 (github.com/pytorch/pytorch/issues/2895, 4 October 2017: four
// layers of 320 on 123 inputs, 25 sequences of 1,000 steps, floats): for an LSTM 736,000,000 bytes of reserve and
// 17,730,560 of workspace, for a GRU 864,000,000 and 13,169,920. Each is a whole number of its terms:
//   reserve    (6 layers - 1) x steps x sequences x 320 floats; for a GRU (7 layers - 1)
//   workspace  all matrices, and 44 x layers x sequences x 320 floats; for a GRU 32
// Not measured, and assumed alike: one gate (2 and 11), two directions, other types. The verdict says so.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "allocator/emulated/cuda/libraries/common.h"
#include "allocator/emulated/cuda/model/log.h"

using namespace hbmscope::device::libraries;

namespace {

constexpr Status bad_param = 2000;

std::size_t bytes_of_data_type(int type) {
  switch (type) {
    case 1: return 8;  // DOUBLE
    case 2:
    case 9: return 2;  // HALF, BFLOAT16
    default: return 4;
  }
}

struct Rnn {
  int mode = 0, bias_mode = 0, directions = 1, data_type = 0;
  std::size_t input = 0, hidden = 0, projection = 0, layers = 0;

  std::size_t gates() const { return mode == 2 ? 4 : mode == 3 ? 3 : 1; }
  std::size_t output() const { return projection > 0 && projection < hidden ? projection : hidden; }
  std::size_t biases() const { return bias_mode == 0 ? 0 : bias_mode == 2 ? 2 : 1; }
  std::size_t pseudo_layers() const { return layers * static_cast<std::size_t>(directions); }
  std::size_t width_into(std::size_t pseudo_layer) const {
    const auto sides = static_cast<std::size_t>(directions);
    return pseudo_layer < sides ? input : sides * output();
  }
  std::size_t matrices(std::size_t pseudo_layer) const {  // In elements.
    const std::size_t projecting = output() < hidden ? output() * hidden : 0;
    return gates() * hidden * (width_into(pseudo_layer) + output()) + projecting;
  }
  std::size_t matrices_before(std::size_t pseudo_layer) const {
    std::size_t sum = 0;
    for (std::size_t layer = 0; layer < pseudo_layer; ++layer) sum += matrices(layer);
    return sum;
  }
  std::size_t biases_of_layer() const { return biases() * gates() * hidden; }
};
struct RnnData {
  std::size_t steps = 0, sequences = 0;
};
struct Shape {
  int data_type = 0, sizes[3] = {1, 1, 1};
};

// What the descriptors say that this file has seen.
struct Described {
  std::mutex mutex;
  std::unordered_map<Handle, Rnn> networks;
  std::unordered_map<Handle, RnnData> data;
  std::unordered_map<Handle, Shape> shapes;
};
Described& described() {
  static Described* const all = new Described;  // Never destroyed: other threads outlive main.
  return *all;
}
template <class Map>
bool find(const Map& map, Handle key, typename Map::mapped_type& found) {
  const std::lock_guard lock(described().mutex);
  const auto at = map.find(key);
  if (at == map.end()) return false;
  found = at->second;
  return true;
}
template <class Map>
Status keep(Map& map, Handle key, const typename Map::mapped_type& value) {
  const std::lock_guard lock(described().mutex);
  map[key] = value;
  return success;
}

}  // namespace

HBMSCOPE_EXPORTED Status cudnnSetRNNDescriptor_v8(Handle descriptor, int, int mode, int bias_mode, int direction, int,
                                                  int data_type, int, int, std::int32_t input, std::int32_t hidden,
                                                  std::int32_t projection, std::int32_t layers, Handle, std::uint32_t) {
  const auto size = [](std::int32_t given) { return static_cast<std::size_t>(std::max<std::int32_t>(0, given)); };
  return keep(
      described().networks, descriptor,
      {mode, bias_mode, direction == 1 ? 2 : 1, data_type, size(input), size(hidden), size(projection), size(layers)});
}
HBMSCOPE_EXPORTED Status cudnnSetRNNDataDescriptor(Handle descriptor, int, int, int steps, int sequences, int,
                                                   const int*, void*) {
  return keep(described().data, descriptor,
              {static_cast<std::size_t>(std::max(0, steps)), static_cast<std::size_t>(std::max(0, sequences))});
}

HBMSCOPE_EXPORTED Status cudnnGetRNNWeightSpaceSize(Handle, Handle descriptor, std::size_t* bytes) {
  Rnn rnn;
  if (!find(described().networks, descriptor, rnn)) return bad_param;
  const std::size_t elements = rnn.matrices_before(rnn.pseudo_layers()) + rnn.pseudo_layers() * rnn.biases_of_layer();
  *bytes = elements * bytes_of_data_type(rnn.data_type);
  return success;
}

// All matrices come first, layer by layer: those of the inputs by gate, those of the recurrence, the projection.
HBMSCOPE_EXPORTED Status cudnnGetRNNWeightParams(Handle, Handle descriptor, std::int32_t pseudo_layer, std::size_t,
                                                 const void* space, std::int32_t matrix, Handle matrix_descriptor,
                                                 void** matrix_address, Handle bias_descriptor, void** bias_address) {
  Rnn rnn;
  if (!find(described().networks, descriptor, rnn) || pseudo_layer < 0 || matrix < 0) return bad_param;
  const auto layer = static_cast<std::size_t>(pseudo_layer), number = static_cast<std::size_t>(matrix);
  if (layer >= rnn.pseudo_layers() || number > 2 * rnn.gates()) return bad_param;
  const std::size_t input = rnn.width_into(layer), element = bytes_of_data_type(rnn.data_type);
  const auto at = [&](std::size_t elements) {
    return const_cast<char*>(static_cast<const char*>(space)) + elements * element;
  };
  // PyTorch asks for one of the two, and has no place for the other.
  const auto answer = [](void** place, void* address) {
    if (place != nullptr) *place = address;
  };
  answer(matrix_address, nullptr);
  answer(bias_address, nullptr);
  const auto describe = [&](Handle shape, std::size_t rows, std::size_t columns) {
    if (shape != nullptr)
      keep(described().shapes, shape, {rnn.data_type, {1, static_cast<int>(rows), static_cast<int>(columns)}});
  };
  const bool is_projection = number == 2 * rnn.gates(), is_recurrent = number >= rnn.gates();
  if (is_projection && rnn.output() == rnn.hidden) {  // There is none.
    return success;
  }
  const std::size_t inputs = rnn.gates() * rnn.hidden * input, gate = is_recurrent ? number - rnn.gates() : number;
  std::size_t offset = rnn.matrices_before(layer);
  if (is_recurrent)
    offset += inputs + gate * rnn.hidden * rnn.output();
  else
    offset += gate * rnn.hidden * input;
  answer(matrix_address, at(offset));
  if (is_projection)
    describe(matrix_descriptor, rnn.output(), rnn.hidden);
  else
    describe(matrix_descriptor, rnn.hidden, is_recurrent ? rnn.output() : input);

  const bool is_of_inputs = rnn.bias_mode == 1 || rnn.bias_mode == 2, is_of_recurrence = rnn.bias_mode >= 2;
  if (is_projection || (is_recurrent ? !is_of_recurrence : !is_of_inputs)) return success;
  const std::size_t before = is_recurrent && is_of_inputs ? rnn.gates() * rnn.hidden : 0;
  answer(bias_address,
         at(rnn.matrices_before(rnn.pseudo_layers()) + layer * rnn.biases_of_layer() + before + gate * rnn.hidden));
  describe(bias_descriptor, rnn.hidden, 1);
  return success;
}

// Of others than those above, nobody asks.
HBMSCOPE_EXPORTED Status cudnnGetTensorNdDescriptor(Handle descriptor, int wanted, int* data_type, int* dimensions,
                                                    int* sizes, int* strides) {
  Shape shape;
  if (!find(described().shapes, descriptor, shape)) return success;
  *data_type = shape.data_type;
  *dimensions = 3;
  int stride = 1;
  for (int i = 2; i >= 0; stride *= shape.sizes[i--]) {
    if (i >= wanted) continue;
    sizes[i] = shape.sizes[i];
    strides[i] = stride;
  }
  return success;
}

HBMSCOPE_EXPORTED Status cudnnGetRNNTempSpaceSizes(Handle, Handle descriptor, int mode, Handle data_descriptor,
                                                   std::size_t* workspace, std::size_t* reserve) {
  Rnn rnn;
  RnnData data;
  if (!find(described().networks, descriptor, rnn) || !find(described().data, data_descriptor, data)) return bad_param;
  static std::atomic<bool> is_noted = false;
  if (!is_noted.exchange(true)) hbmscope_device_note("cudnnGetRNNTempSpaceSizes", "estimated");
  const std::size_t of_layer = rnn.mode == 2   ? 6
                               : rnn.mode == 3 ? 7
                                               : 2,
                    of_work = rnn.mode == 2   ? 44
                              : rnn.mode == 3 ? 32
                                              : 11;
  const std::size_t row = data.sequences * rnn.hidden * static_cast<std::size_t>(rnn.directions);
  const std::size_t element = bytes_of_data_type(rnn.data_type);
  if (workspace != nullptr)
    *workspace = (rnn.matrices_before(rnn.pseudo_layers()) + of_work * rnn.layers * row) * element;
  if (reserve != nullptr)
    *reserve = mode == 0 || rnn.layers == 0 ? 0 : (of_layer * rnn.layers - 1) * data.steps * row * element;
  return success;
}

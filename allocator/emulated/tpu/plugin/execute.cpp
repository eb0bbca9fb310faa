// Running a program: nothing is computed, but the memory of its outputs, its temporaries and its code is taken and
// given back as on the device.
//
//   1. arguments that are gone are refused
//   2. the program is loaded on each device: room for its temporaries and its code
//   3. outputs take the memory of donated arguments, or room of their own; tables of pointers take theirs until the end
//   4. donated arguments are gone
#include <algorithm>
#include <utility>

#include "allocator/emulated/tpu/plugin/functions.h"

namespace hbmscope::allocator::tpu::plugin {
namespace {

class Run {
 public:
  explicit Run(ExecuteArguments& given)
      : given_(given),
        executable_(*given.executable),
        program_(*executable_.facts->program),
        kept_(given.options != nullptr ? given.options->kept_arguments : nullptr),
        kept_count_(given.options != nullptr ? given.options->kept_argument_count : 0) {
    if (given.device != nullptr)
      devices_.push_back(given.device);
    else
      devices_ = executable_.devices;
  }

  Error* run() {
    if (devices_.size() != given_.device_count)
      return make_error(ErrorCode::invalid_argument, program_.name + " was compiled for " +
                                                         std::to_string(devices_.size()) + " devices, and runs on " +
                                                         std::to_string(given_.device_count));
    Error* error = check_arguments();
    if (error != nullptr) return error;
    ++executable_.executions;
    ++executable_.client->account->executions;
    std::size_t begun = 0;
    while (begun < devices_.size() && error == nullptr) error = begin(begun++);
    if (error == nullptr) error = make_outputs();
    if (error == nullptr) release_donors();
    for (std::size_t i = 0; i < begun; ++i) devices_[i]->books->end();
    return error;
  }

 private:
  bool is_kept(std::int64_t argument) const {
    return std::find(kept_, kept_ + kept_count_, argument) != kept_ + kept_count_;
  }

  Error* check_arguments() {
    for (std::size_t device = 0; device < given_.device_count; ++device)
      for (std::size_t i = 0; i < given_.argument_count; ++i)
        if (given_.argument_lists[device][i]->is_deleted)
          return make_error(ErrorCode::invalid_argument, "Invalid buffer passed to Execute() as argument " +
                                                             std::to_string(i) +
                                                             " to replica 0: "
                                                             "INVALID_ARGUMENT: Buffer has been deleted or donated.");
    if (devices_.empty()) return nullptr;
    compare_arguments();
    return find_donation_clash();
  }

  bool is_donated(std::int64_t argument) const {
    const auto is = [&](const std::vector<std::int64_t>& list) {
      return std::find(list.begin(), list.end(), argument) != list.end();
    };
    return !is_kept(argument) && (is(program_.argument_of_output) || is(program_.donors));
  }

  // An array that is given up must not be used a second time by the same call. The texts are XLA's
  // (xla/pjrt/utils.cc, TestBufferDonationClashes).
  Error* find_donation_clash() {
    const auto& under = program_.argument_of_output;
    if (program_.donors.empty() && std::all_of(under.begin(), under.end(), [](auto argument) { return argument < 0; }))
      return nullptr;
    for (std::size_t i = 0; i < given_.argument_count; ++i) uses_.emplace_back(given_.argument_lists[0][i], i);
    std::sort(uses_.begin(), uses_.end());
    const auto clash = std::adjacent_find(uses_.begin(), uses_.end(), [&](const auto& a, const auto& b) {
      return a.first == b.first &&
             (is_donated(static_cast<std::int64_t>(a.second)) || is_donated(static_cast<std::int64_t>(b.second)));
    });
    if (clash == uses_.end()) return nullptr;
    const std::size_t first = clash->second, second = (clash + 1)->second;
    const bool is_first = is_donated(static_cast<std::int64_t>(first));
    const bool is_second = is_donated(static_cast<std::int64_t>(second));
    const std::string where = " (flattened argument " + std::to_string(second) +
                              ", replica 0, partition 0, first use: " + std::to_string(first) +
                              "). Toy example for this bug: ";
    if (is_first && is_second)
      return make_error(ErrorCode::invalid_argument,
                        "Attempt to donate the same buffer twice in Execute()" + where + "`f(donate(a), donate(a))`.");
    if (is_first)
      return make_error(ErrorCode::invalid_argument,
                        "Attempt to use a buffer that was previously donated in the same call to Execute()" + where +
                            "`f(donate(a), a)`.");
    return make_error(
        ErrorCode::invalid_argument,
        "Attempt to donate a buffer which is also used by the same call to Execute()" + where + "`f(a, donate(a))`.");
  }

  // The compiler's sum must be ours.
  void compare_arguments() {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < given_.argument_count; ++i)
      if (const Buffer& buffer = *given_.argument_lists[0][i]; buffer.memory->is_hbm()) bytes += buffer.layout->bytes;
    TpuAccount& account = *executable_.client->account;
    ++account.compared_executions;
    if (bytes != static_cast<std::uint64_t>(program_.bytes.arguments)) ++account.differing_executions;
  }

  std::uint64_t code_bytes() const {
    const auto unit = static_cast<std::uint64_t>(executable_.client->generation->allocation_bytes);
    return (static_cast<std::uint64_t>(program_.bytes.code) + unit - 1) / unit * unit;
  }

  Error* begin(std::size_t number) {
    Device& device = *devices_[number];
    const CompiledBytes& bytes = program_.bytes;
    const auto temporaries = static_cast<std::uint64_t>(bytes.temporaries);
    device.books->note_host(device.host_bytes + static_cast<std::uint64_t>(bytes.host_temporaries));
    device.books->begin({executable_.program, program_.name, executable_.executions, temporaries, code_bytes()});
    for (std::size_t i = 0; i < given_.argument_count; ++i)
      if (Block* block = given_.argument_lists[number][i]->block) device.books->note_use(block);
    if (device.books->load()) return nullptr;
    return make_error(ErrorCode::resource_exhausted, device.books->refuse(temporaries + code_bytes(), program_.name));
  }

  // The donated argument whose memory an output takes, or null.
  Buffer* donated_for(std::size_t device, std::size_t output) const {
    const std::int64_t argument = program_.argument_of_output[output];
    if (argument < 0 || static_cast<std::size_t>(argument) >= given_.argument_count || is_kept(argument))
      return nullptr;
    Buffer* buffer = given_.argument_lists[device][argument];
    return buffer->memory->kind == program_.outputs[output].memory_kind ? buffer : nullptr;
  }

  // First all that need room of their own: a failure leaves the arguments as they were.
  Error* make_outputs() {
    const std::size_t count = program_.outputs.size();
    std::vector<Buffer*> made(given_.device_count * count);
    std::vector<Block*> tables(given_.device_count);
    const std::uint64_t table_bytes = program_.tuple_table_bytes(executable_.output_array_bytes);
    Error* error = nullptr;
    for (std::size_t device = 0; device < given_.device_count && error == nullptr; ++device) {
      DeviceBooks& books = *devices_[device]->books;
      for (std::size_t i = 0; i < count && error == nullptr; ++i)
        if (donated_for(device, i) == nullptr)
          made[device * count + i] = make_buffer(*executable_.client, program_.outputs[i].type,
                                                 program_.outputs[i].dimensions, executable_.output_layouts[i],
                                                 devices_[device]->find_memory(program_.outputs[i].memory_kind), error);
      if (error != nullptr || table_bytes == 0) continue;
      tables[device] = books.allocate(table_bytes, table_bytes);
      if (tables[device] == nullptr) error = make_error(ErrorCode::resource_exhausted, books.refuse(table_bytes, {}));
    }
    for (std::size_t device = 0; device < given_.device_count; ++device)
      if (tables[device] != nullptr) devices_[device]->books->free(tables[device]);
    if (error != nullptr) {
      for (Buffer* buffer : made)
        if (buffer != nullptr) {
          release(*buffer);
          delete buffer;
        }
      return error;
    }
    for (std::size_t device = 0; device < given_.device_count; ++device) {
      for (std::size_t i = 0; i < count; ++i) {
        Buffer* buffer = made[device * count + i];
        given_.output_lists[device][i] = buffer != nullptr ? buffer : transfer(device, i);
      }
      if (given_.events != nullptr) given_.events[device] = make_ready_event();
    }
    return nullptr;
  }

  Buffer* transfer(std::size_t device, std::size_t output) {
    Buffer& donated = *donated_for(device, output);
    auto* buffer = new Buffer;
    buffer->type = program_.outputs[output].type;
    buffer->dimensions = program_.outputs[output].dimensions;
    buffer->layout = executable_.output_layouts[output];
    buffer->memory = donated.memory;
    buffer->host_address = donated.host_address;
    if (donated.block != nullptr)
      buffer->block = devices_[device]->books->transfer(donated.block, buffer->layout->unpadded_bytes);
    donated.block = nullptr;
    donated.is_deleted = true;
    donated.values.reset();
    return buffer;
  }

  void release_donors() {
    for (const std::int64_t argument : program_.donors) {
      if (static_cast<std::size_t>(argument) >= given_.argument_count || is_kept(argument)) continue;
      for (std::size_t device = 0; device < given_.device_count; ++device)
        release(*given_.argument_lists[device][argument]);
    }
  }

  ExecuteArguments& given_;
  LoadedExecutable& executable_;
  const CompiledProgram& program_;
  const std::int64_t* kept_;
  std::size_t kept_count_;
  std::vector<Device*> devices_;
  std::vector<std::pair<const Buffer*, std::size_t>> uses_;  // How often the first device's arguments are used.
};

}  // namespace

Error* LoadedExecutable_Execute(ExecuteArguments* given) {
  if (given->executable->is_deleted) return make_error(ErrorCode::invalid_argument, "the executable has been deleted");
  const std::lock_guard lock(given->executable->client->mutex);
  return Run(*given).run();
}

Error* ExecuteContext_Create(Command<void>* given) {
  given->object = new int(0);
  return nullptr;
}

Error* ExecuteContext_Destroy(Head* given) {
  delete static_cast<int*>(static_cast<Command<void>*>(given)->object);
  return nullptr;
}

}  // namespace hbmscope::allocator::tpu::plugin

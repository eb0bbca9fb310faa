// The extensions of PJRT's table: layouts and shardings are answered here, because buffers and executables are the
// plugin's; memory descriptions and topologies are libtpu's. Others (profiler, raw buffers, transfers between hosts
// ...) are left out, which tells JAX that the plugin doesn't have them.
#include <algorithm>
#include <cstring>

#include "allocator/emulated/tpu/plugin/functions.h"

namespace hbmscope::allocator::tpu::plugin {
namespace {

Error* destroy(Command<MemoryLayout>* given) {
  if (given->object != nullptr && !given->object->is_owned) delete given->object;
  return nullptr;
}

Error* serialize(BytesQuery<MemoryLayout>* given) {
  auto* text = new std::string(given->object->text);
  given->bytes = text->data();
  given->size = text->size();
  given->owner = text;
  given->deleter = [](void* owner) { delete static_cast<std::string*>(owner); };
  return nullptr;
}

template <class Object>
Error* give_default(DefaultLayoutArguments<Object>* given, const Topology* topology) {
  const std::vector<std::int64_t> dimensions(given->dimensions, given->dimensions + given->rank);
  given->layout =
      new MemoryLayout{nullptr, default_layout(topology, *find_client()->generation, given->type, dimensions)->text};
  return nullptr;
}

Error* default_of_client(DefaultLayoutArguments<Client>* given) {
  return give_default(given, given->object->topology);
}

// A topology of another generation may be asked about as well.
Error* default_of_topology(DefaultLayoutArguments<const Topology>* given) {
  const Libtpu& libtpu = *Libtpu::get();
  const auto fault = libtpu.call_extension(
      libtpu.extension_function(layouts_extension, &LayoutsExtension::default_of_topology), *given);
  if (fault) return make_error(fault->code, fault->text);
  auto* layout = new MemoryLayout{nullptr, libtpu.text_from_layout(given->layout)};
  libtpu.destroy_layout(given->layout);
  given->layout = layout;
  return nullptr;
}

Error* of_buffer(Query<Buffer, MemoryLayout*>* given) {
  given->value = new MemoryLayout{nullptr, given->object->layout->text};
  return nullptr;
}

Error* of_outputs(CountedListQuery<Executable, MemoryLayout* const>* given) {
  given->items = given->object->facts->output_layout_pointers.data();
  given->count = given->object->facts->output_layout_pointers.size();
  return nullptr;
}

Error* of_parameters(CountedListQuery<Executable, MemoryLayout* const>* given) {
  const ExecutableFacts& facts = *given->object->facts;
  if (!facts.program->has_parameter_layouts)
    return make_error(ErrorCode::unimplemented, "this libtpu doesn't say which layouts parameters have");
  given->items = facts.parameter_layout_pointers.data();
  given->count = facts.parameter_layout_pointers.size();
  return nullptr;
}

Error* give_shardings(TextListQuery<Executable>* given, const ExecutableFacts::Texts& shardings) {
  const bool are_known = given->object->facts->program->has_shardings;
  given->count = shardings.texts.size();
  given->texts = are_known ? shardings.texts.data() : nullptr;
  given->bytes = are_known ? shardings.bytes.data() : nullptr;
  return nullptr;
}

Error* parameter_shardings(TextListQuery<Executable>* given) {
  return give_shardings(given, given->object->facts->parameter_shardings);
}

Error* output_shardings(TextListQuery<Executable>* given) {
  return give_shardings(given, given->object->facts->output_shardings);
}

// A copy that ends with what is known here: a newer libtpu's further functions would get objects of this plugin.
template <class Kind>
Kind* copy_of(const Extension& extension) {
  auto* copy = new Kind{};
  const std::size_t bytes = std::min(sizeof(Kind), extension.struct_bytes);
  std::memcpy(static_cast<void*>(copy), &extension, bytes);
  copy->struct_bytes = bytes;
  return copy;
}

// As it is, for functions that get objects of libtpu.
Extension* whole_copy_of(const Extension& extension) {
  void* copy = ::operator new(extension.struct_bytes);
  std::memcpy(copy, &extension, extension.struct_bytes);
  return static_cast<Extension*>(copy);
}

}  // namespace

Extension* make_extensions(const Libtpu& libtpu) {
  Extension* chain = nullptr;
  const auto add = [&](Extension* extension) {
    extension->next = chain;
    chain = extension;
  };
  for (const ExtensionType type : {memories_extension, topology_extension})
    if (const Extension* found = libtpu.find_extension(type)) add(whole_copy_of(*found));
  if (const Extension* found = libtpu.find_extension(profiler_extension)) {
    auto* profiler = copy_of<ProfilerExtension>(*found);
    profiler->api = profiler_api();
    add(profiler);
  }
  if (const Extension* found = libtpu.find_extension(shardings_extension)) {
    auto* shardings = copy_of<ShardingsExtension>(*found);
    shardings->of_parameters = reinterpret_cast<void*>(&parameter_shardings);
    shardings->of_outputs = reinterpret_cast<void*>(&output_shardings);
    add(shardings);
  }
  if (const Extension* found = libtpu.find_extension(layouts_extension)) {
    auto* layouts = copy_of<LayoutsExtension>(*found);
    layouts->destroy = reinterpret_cast<void*>(&destroy);
    layouts->serialize = reinterpret_cast<void*>(&serialize);
    layouts->default_of_client = reinterpret_cast<void*>(&default_of_client);
    layouts->of_buffer = reinterpret_cast<void*>(&of_buffer);
    layouts->default_of_topology = reinterpret_cast<void*>(&default_of_topology);
    layouts->of_outputs = reinterpret_cast<void*>(&of_outputs);
    layouts->of_parameters = reinterpret_cast<void*>(&of_parameters);
    add(layouts);
  }
  return chain;
}

}  // namespace hbmscope::allocator::tpu::plugin

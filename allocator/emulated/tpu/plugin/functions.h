// The plugin's own functions, by topic; functions.inc lists them all.
#pragma once

#include "allocator/emulated/tpu/plugin/objects.h"

namespace hbmscope::allocator::tpu::plugin {

// client.cpp
Error* Client_Create(CreateClientArguments* given);
Error* Client_Destroy(Command<Client>* given);
Error* Client_PlatformName(TextQuery<Client>* given);
Error* Client_ProcessIndex(Query<Client, int>* given);
Error* Client_PlatformVersion(TextQuery<Client>* given);
Error* Client_Devices(ListQuery<Client, Device*>* given);
Error* Client_AddressableDevices(ListQuery<Client, Device*>* given);
Error* Client_LookupDevice(LookupArguments* given);
Error* Client_LookupAddressableDevice(LookupArguments* given);
Error* Client_AddressableMemories(ListQuery<Client, Memory*>* given);
Error* Client_DefaultDeviceAssignment(DeviceAssignmentArguments* given);
Error* Client_TopologyDescription(Query<Client, Topology*>* given);
Error* Client_UpdateGlobalProcessInfo(Head* given);
Error* Client_DmaMap(Head* given);
Error* Client_DmaUnmap(Head* given);

// devices.cpp
Error* DeviceDescription_ProcessIndex(Query<DeviceDescription, int>* given);
Error* Device_GetDescription(Query<Device, DeviceDescription*>* given);
Error* Device_IsAddressable(Query<Device, bool>* given);
Error* Device_LocalHardwareId(Query<Device, int>* given);
Error* Device_AddressableMemories(ListQuery<Device, Memory*>* given);
Error* Device_DefaultMemory(Query<Device, Memory*>* given);
Error* Device_MemoryStats(MemoryStats* given);
Error* Device_GetAttributes(DeviceAttributesArguments* given);
Error* Device_ClearMemoryStats(Command<Device>* given);
Error* Memory_Id(Query<Memory, int>* given);
Error* Memory_Kind(TextQuery<Memory>* given);
Error* Memory_Kind_Id(Query<Memory, int>* given);
Error* Memory_DebugString(TextQuery<Memory>* given);
Error* Memory_ToString(TextQuery<Memory>* given);
Error* Memory_AddressableByDevices(ListQuery<Memory, Device*>* given);

// compile.cpp
Error* Client_Compile(CompileArguments* given);
Error* Compile(CompileForTopologyArguments<Executable>* given);
Error* Executable_DeserializeAndLoad(DeserializeArguments* given);

// executables.cpp
Error* Executable_Destroy(Command<Executable>* given);
Error* Executable_Name(TextQuery<Executable>* given);
Error* Executable_NumReplicas(Query<Executable, std::size_t>* given);
Error* Executable_NumPartitions(Query<Executable, std::size_t>* given);
Error* Executable_NumOutputs(Query<Executable, std::size_t>* given);
Error* Executable_SizeOfGeneratedCodeInBytes(Query<Executable, std::int64_t>* given);
Error* Executable_GetCostAnalysis(CountedListQuery<Executable, const NamedValue>* given);
Error* Executable_OutputMemoryKinds(TextListQuery<Executable>* given);
Error* Executable_ParameterMemoryKinds(TextListQuery<Executable>* given);
Error* Executable_OptimizedProgram(Query<Executable, ProgramText*>* given);
Error* Executable_Serialize(BytesQuery<Executable>* given);
Error* Executable_GetCompileOptions(BytesQuery<Executable>* given);
Error* Executable_Fingerprint(TextQuery<Executable>* given);
Error* Executable_OutputElementTypes(ListQuery<Executable, const int>* given);
Error* Executable_OutputDimensions(pjrt::OutputDimensionsQuery<Executable>* given);
Error* Executable_GetCompiledMemoryStats(CompiledMemoryArguments<Executable>* given);
Error* LoadedExecutable_Destroy(Command<LoadedExecutable>* given);
Error* LoadedExecutable_GetExecutable(Query<LoadedExecutable, Executable*>* given);
Error* LoadedExecutable_AddressableDevices(ListQuery<LoadedExecutable, Device*>* given);
Error* LoadedExecutable_AddressableDeviceLogicalIds(ListQuery<LoadedExecutable, const LogicalId>* given);
Error* LoadedExecutable_GetDeviceAssignment(BytesQuery<LoadedExecutable>* given);
Error* LoadedExecutable_Delete(Command<LoadedExecutable>* given);
Error* LoadedExecutable_IsDeleted(Query<LoadedExecutable, bool>* given);
Error* LoadedExecutable_Fingerprint(TextQuery<LoadedExecutable>* given);

// execute.cpp
Error* LoadedExecutable_Execute(ExecuteArguments* given);
Error* ExecuteContext_Create(Command<void>* given);
Error* ExecuteContext_Destroy(Head* given);

// buffers.cpp
Error* Client_BufferFromHostBuffer(FromHostArguments* given);
Error* Client_CreateUninitializedBuffer(UninitializedArguments* given);
Error* Buffer_Destroy(Command<Buffer>* given);
Error* Buffer_ElementType(Query<Buffer, int>* given);
Error* Buffer_Dimensions(ListQuery<Buffer, const std::int64_t>* given);
Error* Buffer_UnpaddedDimensions(ListQuery<Buffer, const std::int64_t>* given);
Error* Buffer_DynamicDimensionIndices(ListQuery<Buffer, const std::size_t>* given);
Error* Buffer_GetMemoryLayout(LayoutArguments* given);
Error* Buffer_OnDeviceSizeInBytes(Query<Buffer, std::size_t>* given);
Error* Buffer_Device(Query<Buffer, Device*>* given);
Error* Buffer_Memory(Query<Buffer, Memory*>* given);
Error* Buffer_Delete(Command<Buffer>* given);
Error* Buffer_IsDeleted(Query<Buffer, bool>* given);
Error* Buffer_CopyToDevice(CopyArguments* given);
Error* Buffer_CopyToMemory(CopyArguments* given);
Error* Buffer_ToHostBuffer(ToHostArguments* given);
Error* Buffer_CopyRawToHost(RawToHostArguments* given);
Error* Buffer_IsOnCpu(Query<Buffer, bool>* given);
Error* Buffer_ReadyEvent(Query<Buffer, Event*>* given);
Error* Buffer_UnsafePointer(Query<Buffer, std::uintptr_t>* given);
Error* Buffer_IncreaseExternalReferenceCount(Command<Buffer>* given);
Error* Buffer_DecreaseExternalReferenceCount(Command<Buffer>* given);
Error* Buffer_OpaqueDeviceMemoryDataPointer(Query<Buffer, void*>* given);

// transfers.cpp
Error* Client_CreateBuffersForAsyncHostToDevice(CreateBuffersArguments* given);
Error* AsyncHostToDeviceTransferManager_Destroy(Command<TransferManager>* given);
Error* AsyncHostToDeviceTransferManager_TransferData(TransferArguments* given);
Error* AsyncHostToDeviceTransferManager_RetrieveBuffer(ManagerItemArguments<Buffer*>* given);
Error* AsyncHostToDeviceTransferManager_Device(Query<TransferManager, Device*>* given);
Error* AsyncHostToDeviceTransferManager_BufferCount(Query<TransferManager, std::size_t>* given);
Error* AsyncHostToDeviceTransferManager_BufferSize(ManagerItemArguments<std::size_t>* given);
Error* AsyncHostToDeviceTransferManager_AddMetadata(Head* given);

// profiler.cpp
void* profiler_api();

// extensions.cpp: the plugin's extensions, in place of libtpu's.
Extension* make_extensions(const Libtpu& libtpu);

}  // namespace hbmscope::allocator::tpu::plugin

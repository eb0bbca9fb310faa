// The plugin's own functions, by topic; functions.inc lists them all.
#pragma once

#include "allocator/tpu/plugin/objects.h"

namespace hbmscope::allocator::tpu::plugin {

// client.cpp
Error* Client_Create(CreateClientArguments* given);
Error* Client_Destroy(Act<Client>* given);
Error* Client_PlatformName(AskText<Client>* given);
Error* Client_ProcessIndex(Ask<Client, int>* given);
Error* Client_PlatformVersion(AskText<Client>* given);
Error* Client_Devices(AskItems<Client, Device*>* given);
Error* Client_AddressableDevices(AskItems<Client, Device*>* given);
Error* Client_LookupDevice(LookupArguments* given);
Error* Client_LookupAddressableDevice(LookupArguments* given);
Error* Client_AddressableMemories(AskItems<Client, Memory*>* given);
Error* Client_DefaultDeviceAssignment(DeviceAssignmentArguments* given);
Error* Client_TopologyDescription(Ask<Client, Topology*>* given);
Error* Client_UpdateGlobalProcessInfo(Head* given);
Error* Client_DmaMap(Head* given);
Error* Client_DmaUnmap(Head* given);

// devices.cpp
Error* DeviceDescription_ProcessIndex(Ask<DeviceDescription, int>* given);
Error* Device_GetDescription(Ask<Device, DeviceDescription*>* given);
Error* Device_IsAddressable(Ask<Device, bool>* given);
Error* Device_LocalHardwareId(Ask<Device, int>* given);
Error* Device_AddressableMemories(AskItems<Device, Memory*>* given);
Error* Device_DefaultMemory(Ask<Device, Memory*>* given);
Error* Device_MemoryStats(MemoryStats* given);
Error* Device_GetAttributes(DeviceAttributesArguments* given);
Error* Device_ClearMemoryStats(Act<Device>* given);
Error* Memory_Id(Ask<Memory, int>* given);
Error* Memory_Kind(AskText<Memory>* given);
Error* Memory_Kind_Id(Ask<Memory, int>* given);
Error* Memory_DebugString(AskText<Memory>* given);
Error* Memory_ToString(AskText<Memory>* given);
Error* Memory_AddressableByDevices(AskItems<Memory, Device*>* given);

// compile.cpp
Error* Client_Compile(CompileArguments* given);
Error* Compile(CompileForTopologyArguments<Executable>* given);
Error* Executable_DeserializeAndLoad(DeserializeArguments* given);

// executables.cpp
Error* Executable_Destroy(Act<Executable>* given);
Error* Executable_Name(AskText<Executable>* given);
Error* Executable_NumReplicas(Ask<Executable, std::size_t>* given);
Error* Executable_NumPartitions(Ask<Executable, std::size_t>* given);
Error* Executable_NumOutputs(Ask<Executable, std::size_t>* given);
Error* Executable_SizeOfGeneratedCodeInBytes(Ask<Executable, std::int64_t>* given);
Error* Executable_GetCostAnalysis(AskCounted<Executable, const NamedValue>* given);
Error* Executable_OutputMemoryKinds(AskTexts<Executable>* given);
Error* Executable_ParameterMemoryKinds(AskTexts<Executable>* given);
Error* Executable_OptimizedProgram(Ask<Executable, ProgramText*>* given);
Error* Executable_Serialize(AskBytes<Executable>* given);
Error* Executable_GetCompileOptions(AskBytes<Executable>* given);
Error* Executable_Fingerprint(AskText<Executable>* given);
Error* Executable_OutputElementTypes(AskItems<Executable, const int>* given);
Error* Executable_OutputDimensions(DimensionsArguments* given);
Error* Executable_GetCompiledMemoryStats(CompiledMemoryArguments<Executable>* given);
Error* LoadedExecutable_Destroy(Act<LoadedExecutable>* given);
Error* LoadedExecutable_GetExecutable(Ask<LoadedExecutable, Executable*>* given);
Error* LoadedExecutable_AddressableDevices(AskItems<LoadedExecutable, Device*>* given);
Error* LoadedExecutable_AddressableDeviceLogicalIds(AskItems<LoadedExecutable, const LogicalId>* given);
Error* LoadedExecutable_GetDeviceAssignment(AskBytes<LoadedExecutable>* given);
Error* LoadedExecutable_Delete(Act<LoadedExecutable>* given);
Error* LoadedExecutable_IsDeleted(Ask<LoadedExecutable, bool>* given);
Error* LoadedExecutable_Fingerprint(AskText<LoadedExecutable>* given);

// execute.cpp
Error* LoadedExecutable_Execute(ExecuteArguments* given);
Error* ExecuteContext_Create(Act<void>* given);
Error* ExecuteContext_Destroy(Head* given);

// buffers.cpp
Error* Client_BufferFromHostBuffer(FromHostArguments* given);
Error* Client_CreateUninitializedBuffer(UninitializedArguments* given);
Error* Buffer_Destroy(Act<Buffer>* given);
Error* Buffer_ElementType(Ask<Buffer, int>* given);
Error* Buffer_Dimensions(AskItems<Buffer, const std::int64_t>* given);
Error* Buffer_UnpaddedDimensions(AskItems<Buffer, const std::int64_t>* given);
Error* Buffer_DynamicDimensionIndices(AskItems<Buffer, const std::size_t>* given);
Error* Buffer_GetMemoryLayout(LayoutArguments* given);
Error* Buffer_OnDeviceSizeInBytes(Ask<Buffer, std::size_t>* given);
Error* Buffer_Device(Ask<Buffer, Device*>* given);
Error* Buffer_Memory(Ask<Buffer, Memory*>* given);
Error* Buffer_Delete(Act<Buffer>* given);
Error* Buffer_IsDeleted(Ask<Buffer, bool>* given);
Error* Buffer_CopyToDevice(CopyArguments* given);
Error* Buffer_CopyToMemory(CopyArguments* given);
Error* Buffer_ToHostBuffer(ToHostArguments* given);
Error* Buffer_CopyRawToHost(RawToHostArguments* given);
Error* Buffer_IsOnCpu(Ask<Buffer, bool>* given);
Error* Buffer_ReadyEvent(Ask<Buffer, Event*>* given);
Error* Buffer_UnsafePointer(Ask<Buffer, std::uintptr_t>* given);
Error* Buffer_IncreaseExternalReferenceCount(Act<Buffer>* given);
Error* Buffer_DecreaseExternalReferenceCount(Act<Buffer>* given);
Error* Buffer_OpaqueDeviceMemoryDataPointer(Ask<Buffer, void*>* given);

// transfers.cpp
Error* Client_CreateBuffersForAsyncHostToDevice(CreateBuffersArguments* given);
Error* AsyncHostToDeviceTransferManager_Destroy(Act<TransferManager>* given);
Error* AsyncHostToDeviceTransferManager_TransferData(TransferArguments* given);
Error* AsyncHostToDeviceTransferManager_RetrieveBuffer(ManagerItemArguments<Buffer*>* given);
Error* AsyncHostToDeviceTransferManager_Device(Ask<TransferManager, Device*>* given);
Error* AsyncHostToDeviceTransferManager_BufferCount(Ask<TransferManager, std::size_t>* given);
Error* AsyncHostToDeviceTransferManager_BufferSize(ManagerItemArguments<std::size_t>* given);
Error* AsyncHostToDeviceTransferManager_AddMetadata(Head* given);

// profiler.cpp
void* profiler_api();

// extensions.cpp: the plugin's extensions, in place of libtpu's.
Extension* make_extensions(const Libtpu& libtpu);

}  // namespace hbmscope::allocator::tpu::plugin

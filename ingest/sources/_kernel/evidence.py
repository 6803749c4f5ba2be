"""Messages of the Linux kernel about a node's own hardware, NVIDIA's aside.

The texts are those that the kernel prints: drivers/edac, arch/x86/kernel/cpu/mce,
drivers/acpi/apei/ghes.c, drivers/pci/pcie/aer.c, drivers/nvme/host, block/blk-core.c,
fs/ext4, fs/xfs, net/sunrpc, mm/oom_kill.c, mm/memory-failure.c, kernel/watchdog.c,
kernel/rcu, kernel/hung_task.c, kernel/panic.c, drivers/gpu/drm/amd/amdgpu, and
NVIDIA's open kernel modules for what has no Xid.

What hardware corrected by itself is a notice: it is listed and never blamed.
"""

from typing import Final, NamedTuple

#: PCI address with its function.
_PCI: Final = r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"

#: A word; seconds since boot; what `dmesg -x` puts before a line.
_W: Final = r"[0-9A-Za-z_]+"
_BOOT: Final = r"\[ *[0-9]+\.[0-9]+\]"
_FACILITY: Final = rf"{_W} *: ?{_W} *: "
_HW: Final = r"\[Hardware Error\]: "
_MCE: Final = rf"mce: {_HW}CPU [0-9]+: Machine Check(?: Exception)?: {_W} Bank [0-9]+: "
_AMD: Final = rf"(?:mce: )?{_HW}"
_CPER: Final = r"\{[0-9]+\}\[Hardware Error\]: event severity: "
_AER: Final = rf"[0-9A-Za-z_-]+ {_PCI}: (?:AER: )?PCIe Bus Error: severity="
_AMDGPU: Final = rf"amdgpu {_PCI}: (?:amdgpu: )?"
_RAS: Final = rf"{_AMDGPU}(?:socket: [0-9]+, die: [0-9]+,? )?[1-9][0-9]* (?:new )?"


class Evidence(NamedTuple):
    """A kind of message.

    Attributes:
        code: Its code in the family `kernel`.
        pattern: The message from its first character on; a regular expression.
        name: Meaning in words.
        component: Component at fault.
        severity: How bad it is.
        action: What to do first.
    """

    code: str
    pattern: str
    name: str
    component: str
    severity: str
    action: str


#: Kinds of messages; the first that fits counts.
EVIDENCE: Final = (
    Evidence("memory_corrected", r"EDAC (?:[0-9A-Za-z_]+ )?MC[0-9]+: [0-9]+ CE ",
             "memory error corrected", "host_memory", "info", "none"),
    Evidence("memory_uncorrected", r"EDAC (?:[0-9A-Za-z_]+ )?MC[0-9]+: [0-9]+ UE ",
             "memory error not corrected", "host_memory", "error",
             "inspect_hardware"),
    Evidence("memory_page_lost", r"Memory failure: 0x[0-9a-f]+: recovery action for ",
             "page of memory lost", "host_memory", "error", "inspect_hardware"),
    # status of a bank: bit 61, the second of its first digit, is `uncorrected`
    Evidence("machine_check", rf"{_MCE}[abefABEF][0-9a-fA-F]{{15}}",
             "processor reports an error that was not corrected", "host", "fatal",
             "inspect_hardware"),
    Evidence("machine_check_corrected", rf"{_MCE}[89cdCD][0-9a-fA-F]{{15}}",
             "processor reports a corrected error", "host", "info", "none"),
    Evidence("machine_check_logged",
             r"mce: \[Hardware Error\]: Machine check events logged",
             "processor logged errors elsewhere", "host", "info", "none"),
    Evidence("machine_check", rf"{_AMD}(?:Uncorrected|System Fatal)[, ]",
             "processor reports an error that was not corrected", "host", "fatal",
             "inspect_hardware"),
    Evidence("machine_check_corrected", rf"{_AMD}(?:Corrected|Deferred) error",
             "processor reports a corrected error", "host", "info", "none"),
    Evidence("firmware_error", rf"{_CPER}fatal",
             "firmware reports a fatal error", "host", "fatal", "inspect_hardware"),
    Evidence("firmware_error_recoverable", rf"{_CPER}recoverable",
             "firmware reports an error", "host", "error", "inspect_hardware"),
    Evidence("firmware_error_corrected", rf"{_CPER}(?:corrected|info)",
             "firmware reports a corrected error", "host", "info", "none"),
    Evidence("pcie_fatal", rf"{_AER}Uncorrect(?:ed|able) \(Fatal\)",
             "fatal error of PCIe", "pcie", "fatal", "inspect_hardware"),
    Evidence("pcie_uncorrected", rf"{_AER}Uncorrect",
             "error of PCIe that was not corrected", "pcie", "error",
             "inspect_hardware"),
    Evidence("pcie_corrected", rf"{_AER}Correct",
             "error of PCIe corrected", "pcie", "info", "none"),
    Evidence("pcie_link_down", rf"pcieport {_PCI}: pciehp: Slot\([^)]*\): Link Down",
             "link of a PCIe slot went down", "pcie", "error", "inspect_hardware"),
    Evidence("nvme_timeout", r"nvme nvme[0-9]+: I/O .{0,60}QID [0-9]+ timeout",
             "disk did not answer in time", "storage", "warning", "none"),
    Evidence("nvme_down",
             r"nvme nvme[0-9]+: (?:controller is down|Device not ready"
             r"|Removing after probe failure|Disabling device after reset failure)",
             "disk is gone", "storage", "error", "inspect_hardware"),
    Evidence("disk_error",
             r"(?:blk_update_request: |print_req_error: )?"
             r"(?:critical (?:medium|target|nexus) error|I/O error), dev \S+, sector ",
             "disk could not read or write", "storage", "error", "inspect_hardware"),
    Evidence("filesystem_error",
             r"EXT4-fs (?:error \(device |\(\S+\): Remounting filesystem read-only)"
             r"|XFS \(\S+\): (?:Corruption |metadata I/O error"
             r"|Filesystem has been shut down|.{0,80}[Ss]hutting down filesystem)",
             "file system is damaged", "storage", "error", "inspect_hardware"),
    Evidence("nfs_not_responding", r"nfs: server \S+ (?:is )?not responding",
             "file server does not answer", "storage", "warning", "none"),
    Evidence("out_of_memory",
             r"(?:(?:Memory cgroup o|O)ut of memory: )?Killed process [0-9]+ \(",
             "out of memory: a process was killed", "software", "error",
             "restart_application"),
    Evidence("soft_lockup",
             r"(?:NMI )?(?:watchdog: )?BUG: soft lockup - CPU#[0-9]+ stuck for ",
             "CPU is stuck in the kernel", "host", "error", "reboot_node"),
    Evidence("hard_lockup",
             r"(?:NMI )?watchdog: (?:CPU[0-9]+: )?Watchdog detected hard LOCKUP on cpu",
             "CPU does not answer", "host", "fatal", "reboot_node"),
    Evidence("rcu_stall",
             rf"(?:rcu: )?INFO: rcu_{_W} (?:self-)?detected (?:expedited )?stalls? on ",
             "CPU is stuck in the kernel", "host", "error", "reboot_node"),
    Evidence("hung_task",
             r"INFO: task .{1,80}:[0-9]+ blocked for more than [0-9]+ seconds",
             "process waits in the kernel for minutes", "host", "warning", "none"),
    Evidence("cpu_throttled",
             r"(?:mce: )?CPU[0-9]+: (?:Core|Package) temperature (?:is )?above "
             r"threshold, cpu clock (?:is )?throttled",
             "CPU is too hot and was slowed down", "host", "warning",
             "inspect_hardware"),
    Evidence("overheated", r"thermal \S+: .{0,40}critical temperature reached",
             "node is too hot and shuts down", "host", "fatal", "inspect_hardware"),
    Evidence("kernel_panic", r"Kernel panic - not syncing: ",
             "kernel stopped the node", "host", "fatal", "reboot_node"),
    Evidence("kernel_bug",
             r"BUG: (?:unable to handle |kernel NULL pointer)|kernel BUG at ",
             "kernel fault", "host", "error", "reboot_node"),
    Evidence("amdgpu_ras_uncorrected",
             rf"{_RAS}uncorrectable hardware errors detected in [0-9A-Za-z_]+ block",
             "GPU error that was not corrected", "gpu_memory", "fatal", "reset_gpu"),
    Evidence("amdgpu_ras_corrected",
             rf"{_RAS}correctable hardware errors detected in [0-9A-Za-z_]+ block",
             "GPU error corrected", "gpu_memory", "info", "none"),
    Evidence("amdgpu_reset_failed", rf"{_AMDGPU}GPU reset end with ret = -[0-9]+",
             "GPU could not be reset", "gpu", "fatal", "reboot_node"),
    Evidence("amdgpu_reset", rf"{_AMDGPU}GPU reset begin",
             "GPU is reset by its driver", "gpu", "error", "restart_application"),
    Evidence("amdgpu_ring_timeout",
             r"\[drm:amdgpu_job_timedout \[amdgpu\]\] \*ERROR\* ring \S+ timeout"
             rf"|{_AMDGPU}ring \S+ timeout",
             "GPU did not finish its work in time", "gpu", "error",
             "restart_application"),
    Evidence("amdgpu_page_fault",
             rf"{_AMDGPU}\[[0-9A-Za-z_]+\] (?:no-)?retry page fault",
             "memory page fault", "software", "error", "restart_application"),
    Evidence("gpu_init_failed", r"NVRM: GPU [0-9a-fA-F:.]+: RmInitAdapter failed!",
             "GPU did not initialize", "gpu", "fatal", "reset_gpu"),
    Evidence("peermem_invalid_context",
             r"nvidia-peermem [0-9A-Za-z_]+:[0-9]+ ERROR detected invalid context",
             "memory of a GPU went while the network used it", "driver", "warning",
             "none"),
)  # fmt: skip

#: Any of them.
ANY: Final = "|".join(one.pattern for one in EVIDENCE)

#: Text in front of a message that is the kernel's: nothing, a stamp of its own, or
#: the kernel as the program that a line of syslog names.
KERNEL_PREFIX: Final = (
    rf"^$|kernel: *(?:{_BOOT} *)?$|kernel - - (?:-|\[[^\]]*\]) *(?:{_BOOT} *)?$"
    rf"|^(?:<[0-9]{{1,3}}>)?{_BOOT} *(?:\[ *[TC][0-9]+\] *)?$"
    r"|^[0-9]+,[0-9]+,[0-9]+,[^;]*;$"
    rf"|^(?:{_FACILITY})?\[[^\]]*\] *$|^{_FACILITY}\S+ $|^{_FACILITY}$"
)

#: Address of the GPU that a message is about, in a group.
GPU_ADDRESS: Final = (
    r"^(?:amdgpu|nvidia|NVRM: GPU) ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2})"
)

#: Part that a message names, in a group; the first that fits counts.
PARTS: Final = (
    r"^EDAC .* on (?:any memory|unknown memory|(\S+))",
    r"^mce: \[Hardware Error\]: (CPU [0-9]+): .* Bank",
    rf"^[0-9A-Za-z_-]+ ({_PCI}): (?:AER: |pciehp: )?(?:PCIe Bus Error|Slot)",
    r"^nvme (nvme[0-9]+):",
    r"error, dev (\S+), sector",
    r"^(?:EXT4-fs (?:error )?|XFS )\((?:device )?([^)\s:]+)",
    r"^nfs: server (\S+)",
    r"Killed process [0-9]+ \(([^)]{1,64})\)",
    r"soft lockup - CPU#([0-9]+)",
    r"^INFO: task (.{1,80}):[0-9]+ blocked",
    r"(CPU[0-9]+): (?:Core|Package)",
    r"hardware errors detected in ([0-9A-Za-z_]+ block)",
    r"ring (\S+) timeout",
)

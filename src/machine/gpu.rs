//! What NVIDIA's driver says of a GPU. libtorch has that too, but only in its libraries for CUDA, which a build for the CPU
//! lacks; the driver's own library is looked up when it is asked.

use serde::Serialize;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use tch::Device;

/// A GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gpu {
    /// As the maker names it.
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (i32, i32),
    /// All of its memory, in bytes.
    pub memory: u64,
    /// The version of the driver; `None` where the system does not say it.
    pub driver: Option<String>,
    /// The newest CUDA that the driver can run, major and minor.
    pub driver_cuda: (i32, i32),
    /// The CUDA of libtorch, major and minor.
    pub cuda: Option<(i64, i64)>,
    /// The cuDNN of libtorch: major, minor, patch.
    pub cudnn: Option<(i64, i64, i64)>,
}

/// The oldest GPUs that multiply bfloat16 in hardware are Ampere's.
const FIRST_WITH_BF16: (i32, i32) = (8, 0);

/// CUDA from 13 on has no code for GPUs before Turing.
const FIRST_OF_CUDA_13: (i32, i32) = (7, 5);

/// The driver's library.
const LIBRARY: &str = "libcuda.so.1";

impl Gpu {
    /// The GPU with this number among those that this process may use.
    ///
    /// # Errors
    /// Why the driver does not say it.
    pub fn examine(number: usize) -> Result<Self, String> {
        Self::from_library(Path::new(LIBRARY), number)
    }

    /// What the driver says of this device; `None` of the CPU, or if the driver says nothing.
    pub fn of(device: Device) -> Option<Self> {
        match device {
            Device::Cuda(number) => Self::examine(number).ok(),
            _ => None,
        }
    }

    /// One for tests.
    #[cfg(test)]
    pub fn named(name: &str, capability: (i32, i32)) -> Self {
        Gpu { name: name.into(), capability, memory: 0, driver: None, driver_cuda: (13, 0), cuda: None, cudnn: None }
    }

    fn from_library(library: &Path, number: usize) -> Result<Self, String> {
        let driver = Driver::open(library)?;
        let device = driver.device(number)?;
        let (cuda, cudnn) = match tch::Cuda::is_available() {
            true => (Some(tch::utils::version_cudart()), Some(tch::utils::version_cudnn())),
            false => (None, None),
        };
        Ok(Gpu {
            name: driver.name(device)?,
            capability: (driver.attribute(device, MAJOR)?, driver.attribute(device, MINOR)?),
            memory: driver.memory(device)?,
            driver: driver_version(),
            driver_cuda: driver.cuda()?,
            cuda: cuda.map(|version| (version / 1000, version % 1000 / 10)),
            cudnn: cudnn.map(|version| (version / 10000, version % 10000 / 100, version % 100)),
        })
    }

    /// Whether it multiplies bfloat16 in hardware.
    pub fn has_bf16(&self) -> bool {
        self.capability >= FIRST_WITH_BF16
    }

    /// Why this libtorch can't compute on it, if it is too old.
    pub fn too_old(&self) -> Option<String> {
        let (cuda, of_cuda) = self.cuda.filter(|&(major, _)| major >= 13)?;
        let [(major, minor), (first, of_first)] = [self.capability, FIRST_OF_CUDA_13];
        let name = &self.name;
        (self.capability < FIRST_OF_CUDA_13).then(|| {
            format!("{name} has compute capability {major}.{minor}, and CUDA {cuda}.{of_cuda} needs {first}.{of_first}")
        })
    }

    /// "NVIDIA H100, driver 580.65, CUDA 13.0, cuDNN 9.15.1"
    pub fn words(&self) -> String {
        let driver = self.driver.as_ref().map(|version| format!(", driver {version}"));
        let cuda = self.cuda.map(|(major, minor)| format!(", CUDA {major}.{minor}"));
        let cudnn = self.cudnn.map(|(major, minor, patch)| format!(", cuDNN {major}.{minor}.{patch}"));
        [Some(self.name.clone()), driver, cuda, cudnn].into_iter().flatten().collect()
    }
}

/// The version of NVIDIA's kernel module.
fn driver_version() -> Option<String> {
    Some(std::fs::read_to_string("/sys/module/nvidia/version").ok()?.trim().to_owned())
}

/// The driver's library, with the functions that are asked. It is never closed: libtorch uses it too.
struct Driver {
    handle: *mut c_void,
}

type Result0 = unsafe extern "C" fn(u32) -> c_int;
type OfDevice<T> = unsafe extern "C" fn(*mut T, c_int) -> c_int;
type OfName = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int;
type OfAttribute = unsafe extern "C" fn(*mut c_int, c_int, c_int) -> c_int;
type OfNothing = unsafe extern "C" fn(*mut c_int) -> c_int;

/// Attributes of a device in `cuda.h`.
const MAJOR: c_int = 75;
const MINOR: c_int = 76;

impl Driver {
    fn open(path: &Path) -> Result<Self, String> {
        let name = CString::new(path.as_os_str().as_encoded_bytes()).map_err(|error| error.to_string())?;
        // SAFETY: loads a library by its name, which ends with 0.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY) };
        if handle.is_null() {
            return Err(format!("{}: can't be loaded; is NVIDIA's driver installed?", path.display()));
        }
        let driver = Driver { handle };
        // SAFETY: cuInit takes flags, which must be 0.
        driver.checked("cuInit", unsafe { driver.function::<Result0>(c"cuInit")?(0) })?;
        Ok(driver)
    }

    /// # Safety
    /// `F` must be the type of that function.
    unsafe fn function<F: Copy>(&self, name: &CStr) -> Result<F, String> {
        assert_eq!(size_of::<F>(), size_of::<*mut c_void>());
        // SAFETY: looks a name up in a library that is loaded.
        let symbol = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        if symbol.is_null() {
            return Err(format!("NVIDIA's driver has no {}", name.to_string_lossy()));
        }
        // SAFETY: the caller promises that the function has this type, and it is as large as a pointer.
        Ok(unsafe { std::mem::transmute_copy(&symbol) })
    }

    fn checked(&self, name: &str, code: c_int) -> Result<(), String> {
        if code == 0 { Ok(()) } else { Err(format!("NVIDIA's driver: {name} returned {code}")) }
    }

    fn device(&self, number: usize) -> Result<c_int, String> {
        let mut device = 0;
        // SAFETY: cuDeviceGet writes a handle, which is a number.
        let code = unsafe { self.function::<OfDevice<c_int>>(c"cuDeviceGet")?(&mut device, number as c_int) };
        self.checked("cuDeviceGet", code).map(|()| device)
    }

    fn name(&self, device: c_int) -> Result<String, String> {
        let mut name = [0u8; 256];
        // SAFETY: cuDeviceGetName writes at most so many bytes, with a 0 at the end.
        let code = unsafe {
            self.function::<OfName>(c"cuDeviceGetName")?(name.as_mut_ptr().cast(), name.len() as c_int - 1, device)
        };
        self.checked("cuDeviceGetName", code)?;
        let name = CStr::from_bytes_until_nul(&name).map_err(|error| error.to_string())?;
        Ok(name.to_string_lossy().into_owned())
    }

    fn attribute(&self, device: c_int, attribute: c_int) -> Result<c_int, String> {
        let mut value = 0;
        // SAFETY: cuDeviceGetAttribute writes a number.
        let code = unsafe { self.function::<OfAttribute>(c"cuDeviceGetAttribute")?(&mut value, attribute, device) };
        self.checked("cuDeviceGetAttribute", code).map(|()| value)
    }

    fn memory(&self, device: c_int) -> Result<u64, String> {
        let mut bytes = 0usize;
        // SAFETY: cuDeviceTotalMem_v2 writes a size.
        let code = unsafe { self.function::<OfDevice<usize>>(c"cuDeviceTotalMem_v2")?(&mut bytes, device) };
        self.checked("cuDeviceTotalMem", code).map(|()| bytes as u64)
    }

    fn cuda(&self) -> Result<(i32, i32), String> {
        let mut version = 0;
        // SAFETY: cuDriverGetVersion writes a number.
        let code = unsafe { self.function::<OfNothing>(c"cuDriverGetVersion")?(&mut version) };
        self.checked("cuDriverGetVersion", code).map(|()| (version / 1000, version % 1000 / 10))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::Command;

    /// A library with the driver's functions, for one GPU.
    const SOURCE: &str = "
        #include <string.h>
        int cuInit(unsigned flags) { return flags; }
        int cuDeviceGet(int *device, int number) { *device = 7; return number == 0 ? 0 : 101; }
        int cuDeviceGetName(char *name, int length, int device) { strncpy(name, \"Test 9000\", length); return device != 7; }
        int cuDeviceGetAttribute(int *value, int attribute, int device) {
            *value = attribute == 75 ? 7 : 5; return device != 7;
        }
        int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = 1ul << 34; return device != 7; }
        int cuDriverGetVersion(int *version) { *version = 13020; return 0; }
    ";

    #[test]
    fn a_gpu_is_described_as_its_driver_does() {
        let folder = tempfile::TempDir::new().unwrap();
        let [source, library] = ["driver.c", "libcuda.so.1"].map(|name| folder.path().join(name));
        std::fs::write(&source, SOURCE).unwrap();
        let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
        assert!(built.unwrap().success());
        let gpu = Gpu::from_library(&library, 0).unwrap();
        assert_eq!((gpu.name.as_str(), gpu.capability, gpu.memory), ("Test 9000", (7, 5), 1 << 34));
        assert_eq!(gpu.driver_cuda, (13, 2));
        assert!(!gpu.has_bf16() && Gpu { capability: (8, 0), ..gpu.clone() }.has_bf16());
        assert!(gpu.words().starts_with("Test 9000"), "{}", gpu.words());
        assert!(Gpu::from_library(&library, 1).unwrap_err().contains("cuDeviceGet returned 101"));
        assert!(Gpu::from_library(&folder.path().join("none"), 0).unwrap_err().contains("driver"));
    }

    #[test]
    fn cuda_13_needs_turing() {
        let with = |capability, cuda| Gpu { cuda: Some((cuda, 0)), ..Gpu::named("A GPU", capability) }.too_old();
        let why = "A GPU has compute capability 6.1, and CUDA 13.0 needs 7.5";
        assert_eq!(with((6, 1), 13).as_deref(), Some(why));
        assert_eq!([with((7, 5), 13), with((9, 0), 13), with((6, 1), 12)], [None, None, None]);
        assert_eq!(Gpu::named("A GPU", (6, 1)).too_old(), None, "libtorch's CUDA is not known");
    }

    #[test]
    fn versions_are_read() {
        let (driver, cuda, cudnn) = (Some("580.65".to_owned()), Some((13, 0)), Some((9, 15, 1)));
        let gpu = Gpu { driver, cuda, cudnn, ..Gpu::named("A GPU", (9, 0)) };
        assert_eq!(gpu.words(), "A GPU, driver 580.65, CUDA 13.0, cuDNN 9.15.1");
    }
}

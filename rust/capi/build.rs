//! The name by which programs find the shared library: it has the part of the version within which the interface is
//! compatible (MAJOR; before 1.0, 0.MINOR), so that a program keeps the library that it was compiled for.

use std::env::var;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let [major, minor, system] =
        ["CARGO_PKG_VERSION_MAJOR", "CARGO_PKG_VERSION_MINOR", "CARGO_CFG_TARGET_OS"]
            .map(|name| var(name).unwrap());
    let compatible = if major == "0" { format!("0.{minor}") } else { major };
    match system.as_str() {
        "windows" => {}
        "macos" => {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libindexing.{compatible}.dylib")
        }
        _ => println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libindexing.so.{compatible}"),
    }
}

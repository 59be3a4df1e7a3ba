//! Any bytes as HLO text: parsed or refused, and what is parsed prints to text that reads back as the same text.
#![no_main]

use indexing_core::parse_module;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match parse_module(text) {
        Err(error) => assert!(error.place(text).line >= 1),
        Ok(module) => {
            let printed = module.to_text();
            let again = parse_module(&printed).expect("printed text reads back");
            assert_eq!(again.to_text(), printed);
        }
    }
});

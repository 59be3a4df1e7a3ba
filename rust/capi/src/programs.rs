//! Predictors as C holds them.

use crate::pointers::{put, reference, slice, slice_mut};
use crate::prediction::WithSize;
use crate::predictor::{Predictor, Program};
use crate::status::{guarded, Failure, Status};
use indexing_core::Prediction;
use std::ffi::{c_char, CStr, CString, OsString};
use std::time::Duration;

/// A predictor, and what the structs of its last answer point to.
pub struct OwnedPredictor {
    predictor: Predictor,
    names: Vec<CString>,
    values: Vec<i64>,
}

/// `indexing_kernel`, without its size.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "the header says what each means")]
pub struct Kernel {
    pub name: *const c_char,
    pub times: f64,
    pub seconds: f64,
    pub limit: f64,
    pub bytes: f64,
}

/// `indexing_knob`, without its size.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "the header says what each means")]
pub struct KnobColumn {
    pub name: *const c_char,
    pub default_value: i64,
    pub values: *const i64,
}

/// `indexing_program`, without its size.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "the header says what each means")]
pub struct ProgramText {
    pub hlo: *const c_char,
    pub length: usize,
    pub device: *const c_char,
    pub instruction: *const c_char,
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_predictor_start(
    command: *const *const c_char,
    seconds: f64,
    out: *mut *mut OwnedPredictor,
) -> Status {
    guarded(|| {
        let limit = Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero());
        let limit = limit
            .ok_or_else(|| Failure::argument(&format!("seconds is {seconds}; expected a positive number")))?;
        // SAFETY: the header asks for NULL, or for words that end with a NULL.
        let words = unsafe { words_of(command) }?;
        let predictor = Predictor::start(&words, limit)?;
        let owned = Box::into_raw(Box::new(OwnedPredictor { predictor, names: vec![], values: vec![] }));
        // SAFETY: the header asks for a place for a pointer; `owned` is taken back if nobody got it.
        unsafe { put(out, owned, "out").inspect_err(|_| drop(Box::from_raw(owned))) }
    })
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_predictor_free(predictor: *mut OwnedPredictor) {
    if !predictor.is_null() {
        // SAFETY: the header asks for a predictor of this library, given back once.
        drop(unsafe { Box::from_raw(predictor) });
    }
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_predictor_program(
    predictor: *mut OwnedPredictor,
    program: *const WithSize<ProgramText>,
    kernels: *mut WithSize<Kernel>,
    capacity: usize,
    count: *mut usize,
    seconds: *mut f64,
) -> Status {
    guarded(|| {
        // SAFETY: the header asks for a predictor that one thread uses, and for places for `capacity` kernels, whose sizes are set.
        let (owned, places) = unsafe { (owned(predictor)?, sized(kernels, capacity, "kernels", "kernel")?) };
        // SAFETY: the header asks for a program with text that lives during the call.
        let times = owned.predictor.program(&unsafe { program_of(program) }?)?;
        owned.names = times.kernels.iter().map(|kernel| c_name(&kernel.name)).collect();
        for ((place, kernel), name) in places.iter_mut().zip(&times.kernels).zip(&owned.names) {
            let (name, times, seconds) = (name.as_ptr(), kernel.times, kernel.seconds);
            place.value = Kernel { name, times, seconds, limit: kernel.limit, bytes: kernel.bytes };
        }
        // SAFETY: the header asks for places for two numbers.
        unsafe {
            put(count, times.kernels.len(), "count").and_then(|()| put(seconds, times.seconds, "seconds"))
        }
    })
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_predictor_knobs(
    predictor: *mut OwnedPredictor,
    program: *const WithSize<ProgramText>,
    knobs: *mut WithSize<KnobColumn>,
    capacity: usize,
    count: *mut usize,
    plans: *mut usize,
) -> Status {
    guarded(|| {
        // SAFETY: the header asks for a predictor that one thread uses, and for places for `capacity` knobs, whose sizes are set.
        let (owned, places) = unsafe { (owned(predictor)?, sized(knobs, capacity, "knobs", "knob")?) };
        // SAFETY: the header asks for a program with text that lives during the call.
        let known = owned.predictor.knobs(&unsafe { program_of(program) }?)?;
        owned.names = known.iter().map(|knob| c_name(&knob.name)).collect();
        owned.values = known.iter().flat_map(|knob| &knob.values).copied().collect();
        let num_plans = known.first().map_or(1, |knob| knob.values.len());
        for (k, (place, knob)) in places.iter_mut().zip(&known).enumerate() {
            let (name, values) = (owned.names[k].as_ptr(), owned.values[k * num_plans..].as_ptr());
            place.value = KnobColumn { name, default_value: knob.default, values };
        }
        // SAFETY: the header asks for places for two numbers.
        unsafe { put(count, known.len(), "count").and_then(|()| put(plans, num_plans, "plans")) }
    })
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_predictor_plans(
    predictor: *mut OwnedPredictor,
    program: *const WithSize<ProgramText>,
    names: *const *const c_char,
    knobs: usize,
    values: *const i64,
    count: usize,
    predictions: *mut WithSize<Prediction>,
) -> Status {
    guarded(|| {
        // SAFETY: the header asks for a predictor that one thread uses, and for `count` predictions, whose sizes are set.
        let (owned, places) =
            unsafe { (owned(predictor)?, sized(predictions, count, "predictions", "prediction")?) };
        let all = knobs.checked_mul(count).ok_or_else(|| Failure::argument("there are too many plans"))?;
        // SAFETY: the header asks for `knobs` names, and for a column of `count` values for each.
        let (names, values) = unsafe { (slice(names, knobs, "names")?, slice(values, all, "values")?) };
        // SAFETY: the header asks for names that end with a zero byte.
        let names =
            names.iter().map(|&name| unsafe { text_of(name, "name") }).collect::<Result<Vec<_>, _>>()?;
        let columns: Vec<_> =
            names.into_iter().enumerate().map(|(k, name)| (name, &values[k * count..][..count])).collect();
        // SAFETY: the header asks for a program with text that lives during the call.
        let answered = owned.predictor.plans(&unsafe { program_of(program) }?, &columns)?;
        if answered.len() != places.len() {
            return Err(Failure::argument(&format!(
                "these are {} plans, but count is {count}",
                answered.len()
            )));
        }
        places.iter_mut().zip(answered).for_each(|(place, prediction)| place.value = prediction);
        Ok(())
    })
}

/// # Safety
/// `predictor` is null, or one of this library that nobody else uses meanwhile.
unsafe fn owned<'a>(predictor: *mut OwnedPredictor) -> Result<&'a mut OwnedPredictor, Failure> {
    // SAFETY: by the contract of this function.
    unsafe { predictor.as_mut() }.ok_or_else(|| Failure::argument("predictor is NULL"))
}

/// # Safety
/// As of [`slice_mut`].
unsafe fn sized<'a, T>(
    places: *mut WithSize<T>,
    count: usize,
    what: &str,
    name: &str,
) -> Result<&'a mut [WithSize<T>], Failure> {
    // SAFETY: by the contract of this function.
    let places = unsafe { slice_mut(places, count, what) }?;
    for (k, place) in places.iter().enumerate() {
        place.check(name).map_err(|failure| failure.of_item(k))?;
    }
    Ok(places)
}

/// # Safety
/// `program` is null, or points to a program whose texts live as long as the result.
unsafe fn program_of<'a>(program: *const WithSize<ProgramText>) -> Result<Program<'a>, Failure> {
    // SAFETY: by the contract of this function.
    unsafe {
        let text = reference(program, "program")?.check("program")?;
        let hlo = utf8(slice(text.hlo.cast::<u8>(), text.length, "program.hlo")?, "program.hlo")?;
        let named = |name: *const c_char, what| (!name.is_null()).then(|| text_of(name, what)).transpose();
        let (device, instruction) =
            (named(text.device, "program.device")?, named(text.instruction, "program.instruction")?);
        Ok(Program::new(hlo).on(device).only(instruction))
    }
}

/// # Safety
/// `text` is null, or ends with a zero byte and lives as long as the result.
unsafe fn text_of<'a>(text: *const c_char, what: &str) -> Result<&'a str, Failure> {
    // SAFETY: by the contract of this function.
    unsafe { reference(text, what).and_then(|_| utf8(CStr::from_ptr(text).to_bytes(), what)) }
}

fn utf8<'a>(bytes: &'a [u8], what: &str) -> Result<&'a str, Failure> {
    std::str::from_utf8(bytes).map_err(|error| Failure::argument(&format!("{what} isn't UTF-8: {error}")))
}

/// # Safety
/// `command` is null, or points to words that end with a null.
unsafe fn words_of(command: *const *const c_char) -> Result<Vec<OsString>, Failure> {
    if command.is_null() {
        return Ok(vec!["indexing".into(), "serve".into()]);
    }
    // SAFETY: by the contract of this function.
    let words = (0..).map(|k| unsafe { *command.add(k) }).take_while(|word| !word.is_null());
    // SAFETY: by the contract of this function.
    words.map(|word| unsafe { word_of(word) }).collect()
}

/// # Safety
/// As of [`text_of`], not null.
unsafe fn word_of(word: *const c_char) -> Result<OsString, Failure> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        // SAFETY: by the contract of this function.
        Ok(std::ffi::OsStr::from_bytes(unsafe { CStr::from_ptr(word) }.to_bytes()).to_owned())
    }
    #[cfg(not(unix))]
    // SAFETY: by the contract of this function.
    Ok(unsafe { text_of(word, "command") }?.into())
}

/// A name for C: HLO's have no zero byte.
fn c_name(name: &str) -> CString {
    CString::new(name.replace('\0', "\\0")).unwrap_or_default()
}

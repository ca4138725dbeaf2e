// translate TEXT: translates a text by the C library.
//   rustc translate.rs -l headscope -o translate
use std::ffi::{c_char, c_void};
use std::{env, process, ptr, slice};

#[repr(C)]
#[derive(Clone, Copy)]
struct Text {
    data: *const c_char,
    size: usize,
}

impl Text {
    fn lent(text: &str) -> Text {
        Text { data: text.as_ptr() as *const c_char, size: text.len() }
    }
    fn copy(self) -> String {
        let bytes = unsafe { slice::from_raw_parts(self.data as *const u8, self.size) };
        String::from_utf8_lossy(bytes).into_owned()
    }
}

type Handle = *mut c_void;
const HS_ABI: u32 = 1;
const HS_TRANSLATE: i32 = 1;

extern "C" {
    fn hs_engine_open(abi: u32, options: Handle, log: *const c_void, user: Handle, engine: *mut Handle, error: *mut Handle) -> i32;
    fn hs_engine_close(engine: Handle);
    fn hs_model_open(engine: Handle, places: *const Text, count: usize, options: Handle, model: *mut Handle, error: *mut Handle) -> i32;
    fn hs_model_close(model: Handle);
    fn hs_submit(model: Handle, kind: i32, inputs: *const Text, targets: *const Text, count: usize, options: Handle, request: *mut Handle, error: *mut Handle) -> i32;
    fn hs_request_wait(request: Handle, timeout_ms: i64, result: *mut Handle, error: *mut Handle) -> i32;
    fn hs_request_free(request: Handle);
    fn hs_result_text(result: Handle, input: usize, choice: usize) -> Text;
    fn hs_result_problem(result: Handle, input: usize) -> Text;
    fn hs_result_free(result: Handle);
    fn hs_error_message(error: Handle) -> Text;
    fn hs_error_free(error: Handle);
}

fn translate(text: &str) -> Result<String, String> {
    let none = ptr::null_mut();
    let (mut engine, mut model, mut request, mut result, mut error) = (none, none, none, none, none);
    let place = Text::lent("en-de");
    let input = Text::lent(text);
    unsafe {
        let ok = hs_engine_open(HS_ABI, none, ptr::null(), none, &mut engine, &mut error) == 0
            && hs_model_open(engine, &place, 1, none, &mut model, &mut error) == 0
            && hs_submit(model, HS_TRANSLATE, &input, ptr::null(), 1, none, &mut request, &mut error) == 0
            && hs_request_wait(request, -1, &mut result, &mut error) == 0;
        let answer = if !ok {
            Err(hs_error_message(error).copy())
        } else if hs_result_problem(result, 0).size > 0 {
            Err(hs_result_problem(result, 0).copy())
        } else {
            Ok(hs_result_text(result, 0, 0).copy())
        };
        hs_error_free(error);
        hs_result_free(result);
        hs_request_free(request);
        hs_model_close(model);
        hs_engine_close(engine);
        answer
    }
}

fn main() {
    let text = env::args().nth(1).unwrap_or_else(|| {
        eprintln!("usage: translate TEXT");
        process::exit(2)
    });
    match translate(&text) {
        Ok(translation) => println!("{}", translation),
        Err(why) => {
            eprintln!("{}", why);
            process::exit(1)
        }
    }
}

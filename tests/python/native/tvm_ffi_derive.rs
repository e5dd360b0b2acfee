//! The derive macros of the crate tvm_ffi, as far as generated code needs them: for a struct whose first member is
//! `base`. The macros implement the traits of tvm_ffi.rs, with which the compiler checks generated code.

extern crate proc_macro;
use proc_macro::{TokenStream, TokenTree};

/// Returns the struct's name and the type of its first member.
fn parts(item: TokenStream) -> (String, String) {
    let trees: Vec<TokenTree> = item.into_iter().collect();
    let at = trees.iter().position(|tree| tree.to_string() == "struct").expect("a struct");
    let members = match &trees[at + 2] {
        TokenTree::Group(group) => group.stream(),
        other => panic!("a struct with members, got {other}"),
    };
    let first = members.into_iter().skip_while(|tree| tree.to_string() != ":").skip(1);
    let base = first.take_while(|tree| tree.to_string() != ",").map(|tree| tree.to_string()).collect();
    (trees[at + 1].to_string(), base)
}

#[proc_macro_derive(Object, attributes(type_key, type_final))]
pub fn object(item: TokenStream) -> TokenStream {
    let (name, base) = parts(item);
    let code = format!(
        "impl ::tvm_ffi::ObjectCore for {name} {{
            const TYPE_DEPTH: i32 = <{base} as ::tvm_ffi::ObjectCore>::TYPE_DEPTH + 1;
        }}"
    );
    code.parse().unwrap()
}

#[proc_macro_derive(ObjectRef)]
pub fn object_ref(item: TokenStream) -> TokenStream {
    let (name, base) = parts(item);
    let code = format!(
        "impl ::tvm_ffi::AnyCompatible for {name} {{}}
        impl ::tvm_ffi::ObjectRefCore for {name} {{}}
        const _: fn({base}) -> {name} = |base| {name} {{ base }};"
    );
    code.parse().unwrap()
}

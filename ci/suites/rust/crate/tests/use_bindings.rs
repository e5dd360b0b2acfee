//! Uses the generated bindings: the library reads objects made in Rust, and Rust reads objects made by the library.

use generated::testing::{TestCxxClassBase, TestCxxClassDerivedDerived, TestIntPair, TestObjectBase, TestObjectDerived};
use std::sync::OnceLock;
use tvm_ffi::{Any, AnyView, Array, Function, Map, Module, ObjectRefCast, Result, String};

/// Loads the testing library once and keeps it loaded; its types need it.
fn loaded() {
    static LIBRARY: OnceLock<()> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let path = std::env::var("TESTING_LIBRARY").expect("ci/rust-suite sets TESTING_LIBRARY");
        std::mem::forget(Module::load_from_file(path).expect("the library loads"));
    });
}

fn call(name: &str, arguments: &[AnyView]) -> Result<Any> {
    Function::get_global(name)?.call_packed(arguments)
}

#[test]
fn an_object_that_rust_makes_is_read_by_the_library() -> Result<()> {
    loaded();
    let pair = TestIntPair::new(3, 4);
    assert_eq!((pair.a, pair.b), (3, 4));
    let sum: i64 = call("testing.TestIntPairSum", &[AnyView::from(&pair)])?.try_into()?;
    assert_eq!(sum, 7);
    Ok(())
}

#[test]
fn an_object_that_the_library_makes_is_read_by_rust() -> Result<()> {
    loaded();
    let (key, a, b) = (String::from("testing.TestIntPair"), String::from("a"), String::from("b"));
    let (first, second) = ((AnyView::from(&a), AnyView::from(&5i64)), (AnyView::from(&b), AnyView::from(&6i64)));
    let arguments = [AnyView::from(&key), first.0, first.1, second.0, second.1];
    let pair: TestIntPair = call("ffi.MakeObjectFromPackedArgs", &arguments)?.try_into()?;
    assert_eq!((pair.a, pair.b), (5, 6));
    Ok(())
}

#[test]
fn containers_and_inherited_fields_cross() -> Result<()> {
    loaded();
    let made = TestObjectDerived::new(
        7,
        2.5,
        "text of more than a few bytes",
        Map::<Any, Any>::default(),
        Array::new(vec![Any::from(1i64), Any::from(2i64)]),
    );
    assert_eq!(made.v_i64, 7);
    assert_eq!(made.v_str.as_str(), "text of more than a few bytes");
    assert_eq!(made.v_array.len(), 2);
    let back: TestObjectDerived = call("testing.echo", &[AnyView::from(&made)])?.try_into()?;
    assert_eq!(back.v_f64, 2.5);
    let base: TestObjectBase = back.into();
    assert_eq!(base.v_i64, 7);
    Ok(())
}

#[test]
fn references_convert_along_the_ancestry() -> Result<()> {
    loaded();
    let leaf = TestCxxClassDerivedDerived::new(1, 2, 3.0, 4.0, "five", true);
    let root: TestCxxClassBase = leaf.clone().into();
    assert_eq!((root.v_i64, root.v_i32), (1, 2));
    let again = root.try_cast::<TestCxxClassDerivedDerived>();
    assert!(again.is_ok());
    assert_eq!(leaf.v_str.as_str(), "five");
    Ok(())
}

"""The checks of the site find planted faults: pages without text or colours, and C++ members without a comment."""

from ci.jobs.check_pages import check_page
from ci.jobs.header_members import Headers
from ci.jobs.site_headers import header_pages, navigation

REPOSITORY = "https://git.example.org/PLACEHOLDER/ffi_hpy"
HEAD = f'<title>Page - ffi_hpy 1.2</title><div>ffi_hpy 1.2</div><a href="{REPOSITORY}">'
CODE = '<div class="language-cc highlight"><pre>{}</pre></div>'
COLOURS = '<span></span><span class="kt">int</span> one'


def problems(article, source="", head=HEAD):
    page = f"{head}<article class='x'>{article}</article>"
    return check_page(page, source, "1.2", REPOSITORY)


def test_a_page_with_text_and_highlighted_code_has_no_problem():
    assert problems(f"<h1>A page</h1><p>Some text here.</p>{CODE.format(COLOURS)}", "```cc\nint one\n```\n") == []


def test_a_page_with_headings_only_is_a_problem():
    assert problems('<h1 id="a">A page of five words</h1>\n<h2>And more than that</h2>') == [
        "has no text beyond headings"
    ]


def test_a_block_without_colours_is_a_problem():
    plain = CODE.format("<span></span>int one")
    assert problems(f"<p>Some text here.</p>{plain}") == [
        "has a block of cc that is not highlighted: '<span></span>int one'"
    ]


def test_a_block_that_is_shown_as_text_is_a_problem():
    source = "```cc\nint one\n```\n\n```text\nint\n```\n"
    assert problems("<p>Some text here.</p>", source) == ["shows 1 of its blocks of cc as text"]


def test_a_page_without_version_and_repository_has_two_problems():
    head = "<title>Page - ffi_hpy 1.2</title>"
    found = problems("<p>Some text here.</p>", head=head)
    assert found == ["does not show the version 1.2", f"has no link to {REPOSITORY}"]


def member(kind, name, arguments, line, text="", prot="public"):
    return f"""
      <memberdef kind="{kind}" prot="{prot}" static="no">
        <type>int</type><name>{name}</name><qualifiedname>tvm::ffi::Thing::{name}</qualifiedname>
        <argsstring>{arguments}</argsstring>
        <briefdescription><para>{text}</para></briefdescription><detaileddescription/>
        <location file="tvm/ffi/thing.h" line="{line}"/>
      </memberdef>"""


def headers(folder, members):
    (folder / "thing_8h.xml").write_text(
        """<doxygen><compounddef id="thing_8h" kind="file"><compoundname>thing.h</compoundname>
        <briefdescription><para>thing.h - things to test.</para></briefdescription><detaileddescription/>
        <location file="tvm/ffi/thing.h"/></compounddef></doxygen>"""
    )
    (folder / "Thing.xml").write_text(
        f"""<doxygen><compounddef id="Thing" kind="class" prot="public"><compoundname>tvm::ffi::Thing</compoundname>
        <sectiondef>{"".join(members)}</sectiondef>
        <briefdescription><para>A thing.</para></briefdescription><detaileddescription/>
        <location file="tvm/ffi/thing.h" line="3"/></compounddef></doxygen>"""
    )
    return Headers(folder)


def test_public_members_without_a_comment_are_listed(tmp_path):
    found = headers(
        tmp_path,
        [
            member("function", "size", "() const", 5, "The number of parts."),
            member("function", "lost", "(int i)", 6),
            member("function", "hidden", "()", 7, prot="private"),
            member("function", "Thing", "(const Thing &amp;other)", 8),
            member("function", "operator==", "(const Thing &amp;other) const", 9),
            member("variable", "count", "", 10),
        ],
    )
    assert found.without_comment() == [
        "tvm/ffi/thing.h:10: Thing::count has no comment",
        "tvm/ffi/thing.h:6: Thing::lost has no comment",
    ]


def test_a_header_has_a_page_with_its_classes_and_their_members(tmp_path):
    found = headers(tmp_path, [member("function", "size", "() const", 5, "The number of &lt;parts&gt;.")])
    ((name, text),) = header_pages(found)
    assert name == "reference/headers/thing.md"
    assert text.startswith("# thing.h\n")
    for part in ("Things to test.", "\n## Thing\n", "```cpp\nint size() const\n```", "The number of &lt;parts&gt;."):
        assert part in text
    assert navigation(found)[:2] == ["- Core:", "    - reference/headers/thing.md"]

"""What the explorer answers, and to whom: predictions are those of `ix.predict`, strangers get nothing."""

import http.client
import json
import re
import socket
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit
from xml.etree import ElementTree

import pytest

import indexing as ix
from indexing.device.detect import find_device
from indexing.explorer.answers import MAX_PLANS, Exploration, predicted_plans, with_unit
from indexing.explorer.server import Server
from indexing.reports.lines import seconds_text
from indexing.reports.remedies import with_layouts
from indexing.show.banks import bank_picture
from indexing.show.svg_renderer import cells_svg

PROGRAM = """HloModule </script><b>m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
turn { p = f32[512,256]{1,0} parameter(0) ROOT t = f32[256,512]{1,0} transpose(p), dimensions={1,0} }
total { p = f32[512,256]{1,0} parameter(0) z = f32[] constant(0) ROOT r = f32[512] reduce(p, z), dimensions={1}, to_apply=add }
ENTRY e {
  x = f32[512,256]{1,0} parameter(0)
  sums = f32[512] fusion(x), kind=kInput, calls=total
  turned = f32[256,512]{1,0} fusion(x), kind=kInput, calls=turn
  ROOT all = (f32[512], f32[256,512]{1,0}) tuple(sums, turned)
}
""".replace("</script><b>m", "m")
MODULE = ix.hlo.parse(PROGRAM)
H100 = find_device("h100")
FOLLOWER = H100.after_another()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(Exploration(ix.analyze(MODULE, H100)), 0) as opened:
        thread = threading.Thread(target=opened.serve_forever, daemon=True)
        thread.start()
        yield opened
        opened.shutdown()


def test_an_explorer_serves_until_it_is_closed() -> None:
    with ix.explore(MODULE, "h100") as explorer:
        address = urlsplit(explorer.address)
        with urllib.request.urlopen(explorer.address, timeout=60) as reply:
            assert b"m</title>" in reply.read()
        (frame,) = ElementTree.fromstring(f"<div>{explorer._repr_html_()}</div>").iter("iframe")
        assert frame.get("src") == explorer.address and explorer.address in repr(explorer)
    explorer.close()
    explorer.wait()
    with pytest.raises(ConnectionRefusedError), socket.create_connection((str(address.hostname), address.port or 0)):
        pass


def test_an_explorer_is_of_functions_too() -> None:
    """Their kernels are those that this package plans, of which each is one fusion."""
    jnp = pytest.importorskip("jax.numpy")
    with ix.explore(lambda a: jnp.tanh(a).T, jnp.ones((512, 256)), device="a100") as explorer:
        listed = urllib.request.urlopen(explorer.address.replace("/?", "/fusions?"), timeout=60)
        assert [f["shape"] for f in json.load(listed)] == ["f32[256,512]"]


def get(server: Server, path: str, host: str | None = None, **query: str) -> tuple[int, str, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=60)
    address = path + "?" + urlencode({"token": server.token} | query, quote_via=quote)
    connection.request("GET", address, headers={"Host": host} if host else {})
    reply = connection.getresponse()
    result = reply.status, reply.read().decode(), dict(reply.getheaders())
    connection.close()
    return result


def asked(server: Server, path: str, **query: str) -> dict[str, object]:
    status, text, _ = get(server, path, **query)
    assert status == 200, text
    return json.loads(text)  # type: ignore[no-any-return]


def predicted(server: Server, **query: str) -> dict[str, object]:
    return asked(server, "/predict", **query)


def test_a_fusion_whose_kernel_repeats_work_is_explored() -> None:
    """The program states that it is one kernel, as `emit` and the report take it."""
    explored = Exploration(ix.analyze(ix.hlo.load(Path(__file__).parents[2] / "examples/rotary.hlo"), H100))
    name, i = next(iter(explored.fusions.items()))
    with pytest.raises(ix.UnsupportedOp, match="repeatedly"):
        ix.emit(with_layouts(i.called[0], {}), device=H100)
    answer = explored.predicted(name, {})
    assert answer["seconds"] == ix.predict(i, {}, FOLLOWER).time[0] == explored.report.fusions[0].run_seconds
    assert answer["source"] == ix.emit(i, device=H100).source
    assert explored.best(name, {})["plans"] > 1 and explored.accesses(name, {})["sectors"]


def test_all_fusions_are_listed(server: Server) -> None:
    listed = json.loads(get(server, "/fusions")[1])
    assert {f["name"] for f in listed} == {"sums", "turned"}


def test_predictions_are_those_of_predict(server: Server) -> None:
    turned = MODULE.entry.instructions["turned"]
    for tile in (8, 32):
        reply = predicted(server, fusion="turned", tile=str(tile))
        expected = ix.predict(turned, {"tile": tile}, FOLLOWER)
        assert reply["seconds"] == expected.time[0] and reply["emitter"] == "transpose"
        assert {k["name"]: k["value"] for k in reply["knobs"]}["tile"] == tile  # type: ignore[attr-defined]
        assert "__global__" in str(reply["source"])
    everything = ix.predict(turned, None, FOLLOWER)
    expected = {
        "plan": everything.best()[0],
        "time": seconds_text(float(everything.time.min())),
        "plans": len(everything),
    }
    assert asked(server, "/best", fusion="turned") == asked(server, "/best", fusion="turned", tile="8") == expected


def test_numbers_have_units_and_are_written_out() -> None:
    said = (("sectors", 25165824.0, "25,165,824"), ("waves", 31.0303, "31.03"), ("occupancy", 0.625, "62%"))
    for name, value, text in (*said, ("memory_bytes", 8.05e8, "805 MB"), ("time", 2.5e-4, "250 us")):
        assert with_unit(name, value) == text


def test_another_layout_is_another_kernel(server: Server) -> None:
    rows, columns = (predicted(server, fusion="sums", **{"layout 0": layout}) for layout in ("1,0", "0,1"))
    text = PROGRAM.replace("total { p = f32[512,256]{1,0}", "total { p = f32[512,256]{0,1}")
    changed = ix.hlo.parse(text.split("ENTRY")[0]).computations["total"]
    assert columns["seconds"] == ix.predict(changed, ix.knobs(changed).default, FOLLOWER).time[0] != rows["seconds"]
    assert with_layouts(MODULE.computations["total"], {0: (0, 1)}).parameters[0].shape.layout == (0, 1)


def titles(picture: str) -> list[str]:
    return [e.text or "" for e in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}title")]


def test_ratios_are_those_of_the_pictures() -> None:
    """A thread's vector is drawn as one access: what its loads share counts once, as in reports."""
    module = ix.hlo.load(Path(__file__).parents[2] / "examples" / "rotary.hlo")
    exploration = Exploration(ix.analyze(module, H100))
    drawn = exploration.accesses("input_concatenate_fusion", {})["sectors"]
    counted = [re.search(r"(\d+) of their (\d+) bytes", access["picture"]) for access in drawn]
    times = [int(c[2]) / int(c[1]) for c in counted if c is not None]
    said = {1: "as many sectors as it needs", 2: "2 times the sectors that it needs"}
    assert [access["ratio"] for access in drawn] == [said[t] for t in times] and set(times) == {1, 2}


@pytest.mark.parametrize(("turns", "device"), [(10, "h100"), (3, "h100"), (10, "cpu"), (100, "cpu")])
def test_times_in_loops_are_those_of_the_report(turns: int, device: str) -> None:
    """The mean of all runs: the first finds its arrays in memory, the others in caches."""
    module = ix.hlo.parse(f"""HloModule m, is_scheduled=true
      halved {{ p = f32[512,512] parameter(0) h = f32[] constant(0.5) b = f32[512,512] broadcast(h), dimensions={{}}
        ROOT r = f32[512,512] multiply(p, b) }}
      body {{ t = (s32[], f32[512,512]) parameter(0) i = s32[] get-tuple-element(t), index=0
        x = f32[512,512] get-tuple-element(t), index=1 one = s32[] constant(1) n = s32[] add(i, one)
        half = f32[512,512] fusion(x), kind=kLoop, calls=halved ROOT u = (s32[], f32[512,512]) tuple(n, half) }}
      until {{ t = (s32[], f32[512,512]) parameter(0) i = s32[] get-tuple-element(t), index=0
        n = s32[] constant({turns}) ROOT c = pred[] compare(i, n), direction=LT }}
      ENTRY e {{ x = f32[512,512] parameter(0) z = s32[] constant(0) t = (s32[], f32[512,512]) tuple(z, x)
        ROOT w = (s32[], f32[512,512]) while(t), condition=until, body=body,
          backend_config={{"known_trip_count":{{"n":"{turns}"}}}} }}""")
    report = ix.analyze(module, device)
    exploration = Exploration(report)
    run = next(f for f in report.fusions if f.name == "half")
    alone = float(ix.predict(run.instruction, {}, report.device.after_another()).time[0])
    assert run.times == turns and run.run_seconds is not None and run.run_seconds < alone
    assert exploration.predicted("half", {})["seconds"] == pytest.approx(run.run_seconds)
    best = exploration.best("half", {})
    choices = {name: str(value) for name, value in best["plan"].items()}
    assert best["time"] == seconds_text(exploration.predicted("half", choices)["seconds"])


def test_parameters_have_the_names_that_they_have_in_reports() -> None:
    """JAX's, not those of the fusion's computation (`param_0.36`)."""
    module = ix.hlo.load(Path(__file__).parents[2] / "examples" / "rotary.hlo")
    exploration, fusion = Exploration(ix.analyze(module, H100)), "loop_convert_fusion"
    accesses = {row.array for row in exploration.report.rows if row.kind == "read"}
    drawn = [picture["picture"] for picture in exploration.accesses(fusion, {})["sectors"]]
    assert "head" in accesses and any("read of operand 0, head<" in picture for picture in drawn)
    assert exploration.tile(fusion, {})["moves"][0]["access"] == "read of head"
    assert exploration.predicted(fusion, {})["layouts"][0]["array"] == "head, bf16[1024,32000]{1,0}"
    assert "\n  head  " in exploration.maps(fusion, {})["maps"]


def test_the_pictures_are_those_of_the_plan_and_the_layout(server: Server) -> None:
    for tile in ("8", "32"):
        reply = asked(server, "/accesses", fusion="turned", tile=tile)
        kernel = ix.emit(MODULE.entry.instructions["turned"], tile=int(tile))
        expected = [cells_svg(bank_picture(a, H100)) for a in ix.coalescing(kernel).shared]
        assert reply["banks"] == expected
    for layout, element in (("1,0", "[0, 1]"), ("0,1", "[1, 0]")):
        sectors = asked(server, "/accesses", fusion="sums", **{"layout 0": layout})["sectors"]
        said = [title for access in sectors for title in titles(access["picture"])]  # type: ignore[attr-defined]
        assert any(title.startswith(f"element {element}, byte 4: ") for title in said), "the order in memory"


def test_a_tile_is_followed_and_its_loads_counted(server: Server) -> None:
    reply = asked(server, "/tile", fusion="turned", **{"tile sizes": "16,64"})
    assert reply["sizes"] == [16, 64] and reply["space"] == [
        {"size": 256, "kind": "parallel"},
        {"size": 512, "kind": "parallel"},
    ]
    assert "t, rows 0:64, columns 0:64: 25% in the tile" in titles(str(reply["way"])), "16 of 64 rows"
    # 64 rows of 16 elements are 128 sectors; 16 rows of 64 elements as well
    assert reply["moves"] == [
        {"access": "read of x", "moved": "128 sectors", "ratio": "the least"},
        {"access": "write of the output", "moved": "128 sectors", "ratio": "the least"},
    ]
    narrow = asked(server, "/tile", fusion="turned", **{"tile sizes": "1,64"})
    assert [m["ratio"] for m in narrow["moves"]] == ["8 times the least", "the least"], (
        "a sector for each of 64 elements"
    )
    assert asked(server, "/tile", fusion="sums")["sizes"] == [32, 256]
    assert {m["moved"] for m in asked(server, "/tile", fusion="turned", **{"tile sizes": "1,1"})["moves"]} == {
        "1 sector"
    }


def test_maps_and_graph_are_those_of_the_fusion(server: Server) -> None:
    reply = asked(server, "/maps", fusion="turned")
    assert "(d0, d1) -> (d1, d0)" in str(reply["maps"])
    texts = [e.text for e in ElementTree.fromstring(str(reply["graph"])).iter("{http://www.w3.org/2000/svg}text")]
    assert {"p", "t"} <= set(texts)


def test_too_many_plans_are_sampled() -> None:
    """A loop of 2^16 elements has thousands of plans in its grid."""
    text = "f { p = f32[512,256] parameter(0) ROOT n = f32[512,256] negate(p) }"
    computation = ix.hlo.parse(text).entry
    assert len(predicted_plans(computation, H100)) == min(MAX_PLANS, len(ix.predict(computation, None, H100)))


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        *((path, {"fusion": "none"}, 400) for path in ("/best", "/maps", "/accesses", "/tile")),
        ("/tile", {"fusion": "turned", "tile sizes": "0,1"}, 400),
        ("/tile", {"fusion": "turned", "tile sizes": "a"}, 400),
        ("/tile", {"fusion": "turned", "tile sizes": "9" * 5000}, 400),
        ("/tile", {"fusion": "turned", "tile sizes": "256,512"}, 400),
        ("/predict", {"fusion": "none"}, 400),
        ("/predict", {"fusion": "turned", "layout 0": "0,0"}, 400),
        ("/predict", {"fusion": "turned", "layout 0": "1,0} parameter(0) x"}, 400),
        ("/../../etc/passwd", {}, 404),
        ("/predict", {"fusion": "turned", "tile": "9" * 50}, 200),
    ],
)
def test_what_cannot_be_answered_is_told(server: Server, path: str, query: dict[str, str], status: int) -> None:
    assert get(server, path, **query)[0] == status


def test_strangers_get_nothing(server: Server) -> None:
    port = server.server_address[1]
    assert server.server_address[0] == "127.0.0.1"
    for host in (f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}"):
        assert get(server, "/", host=host)[0] == 403
    for token in ("", "x" * len(server.token), server.token[:-1], "\udcff".encode(errors="replace").decode()):
        assert get(server, "/fusions", token=token)[0] == 403
    status, text, headers = get(server, "/", host=f"localhost:{port}")
    assert status == 200 and server.token not in text
    assert "default-src 'none'" in headers["Content-Security-Policy"] and headers["Referrer-Policy"] == "no-referrer"
    assert (
        "frame-ancestors http://localhost:* http://127.0.0.1:* vscode-webview:;" in headers["Content-Security-Policy"]
    )
    assert "http://" not in text and "https://" not in text, "nothing is loaded from elsewhere"


def test_ports_that_are_none_or_taken_are_told(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from indexing.cli import main

    file = tmp_path / "m.hlo"
    file.write_text(PROGRAM)
    taken = server.server_address[1]
    assert main(["explore", "--port", str(taken), str(file)]) == 1
    assert capsys.readouterr().err.startswith(f"indexing: port {taken} can't be listened at: ")
    with pytest.raises(SystemExit, match="2"):
        main(["explore", "--port", "99999", str(file)])
    assert "there is no port 99999: the last is 65535" in capsys.readouterr().err


def test_a_program_without_fusions_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from indexing.cli import main

    file = tmp_path / "m.hlo"
    file.write_text("ENTRY e { ROOT p = f32[4] parameter(0) }")
    assert main(["explore", str(file)]) == 1
    assert "no fusions to explore" in capsys.readouterr().err

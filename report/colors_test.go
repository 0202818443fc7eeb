package report_test

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/report"
)

// scripts are what tests of colours need in the page: contrast returns that of two colours of CSS, lab a colour as
// people see it.
const scripts = `
	const channels = (color) => {
		const c = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
		c.fillStyle = color;
		c.fillRect(0, 0, 1, 1);
		return [...c.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
	};
	const brightness = (color) => channels(color).reduce((sum, v, i) => sum + [0.2126, 0.7152, 0.0722][i] * v, 0);
	const contrast = (a, b) => { const [x, y] = [brightness(a), brightness(b)]; return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
	const lab = (color) => {
		const [r, g, b] = channels(color), f = (t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
		const [x, y, z] = [f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047), f(0.2126 * r + 0.7152 * g + 0.0722 * b), f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883)];
		return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
	};`

// TestColors checks that functions of MPI, and kinds of waits, are told apart by their colours, on a light ground and
// a dark one, that text on them can be read, and that all other text can.
func TestColors(t *testing.T) {
	path := file(t, testtrace.RecordTimes(t, testtrace.Series, waiting()), report.Options{})
	for _, w := range []window{desktop, {width: 1200, height: 900, dark: true}} {
		b := open(t, path, w)
		b.show("timeline")
		type pair struct {
			Near float64
			A, B string
		}
		near := eval[[]pair](b, `(() => {%s
			const nearest = (list, color) => list.flatMap((a, i) => list.slice(i + 1).map((b) => [a, b])).map(([a, b]) => {
				const [x, y] = [lab(color(a)), lab(color(b))];
				return { near: Math.hypot(...x.map((v, i) => v - y[i])), a, b };
			}).sort((p, q) => p.near - q.near)[0];
			const dark = report.dark, kinds = ['late sender', 'wrong order', 'late receiver', 'wait at barrier', 'wait at NxN', 'late root',
				'early root', 'early scan', 'wait at fence', 'late post', 'late complete'];
			return [nearest(families.flatMap((f) => f[3]), (name) => colorOf(name, dark)), nearest(kinds, (kind) => stateColor(kind, dark))];
		})()`, scripts)
		for i, least := range []float64{9, 18} {
			if near[i].Near < least {
				t.Errorf("%+v: %+v are too near", w, near[i])
			}
		}
		least := eval[pair](b, `(() => {%s
			const colors = [...families.flatMap((f) => f[3]), 'recv', 'waitall', 'compute', 'f', ...report.data.functions.map((f) => f.name)].map((name) => colorOf(name, report.dark));
			for (let i = 0; i < 500; i++) colors.push(colorOf('MPI_Wait' + i, report.dark), colorOf('name ' + i, report.dark), colorOf('MPI_Barrier' + i, report.dark));
			colors.push(report.theme.other, ...report.data.timeline.kinds.map((kind) => stateColor(kind, report.dark)));
			return colors.map((c) => ({ near: contrast(labelStyle(c, false).fill, c), a: c, b: labelStyle(c, true).backgroundColor })).sort((p, q) => p.near - q.near)[0];
		})()`, scripts)
		if least.Near < 4.5 || least.A != least.B {
			t.Errorf("%+v: text on %+v", w, least)
		}
		checkContrast(t, b, w)
		eval[any](b, "report.figures.get('timeline').select([0, 0], [1, 1])")
		b.wait("document.querySelectorAll('#timeline .readout tr').length > 3")
		eval[any](b, "(t => { t.color('wait'); t.figure.querySelector('.found').textContent = 'not found'; })(report.figures.get('timeline'))")
		checkContrast(t, b, w)
	}
}

// checkContrast checks the contrast of all text that is seen with what is behind it.
func checkContrast(t *testing.T, b *tab, w window) {
	t.Helper()
	type text struct {
		Contrast     float64
		Text         string
		Color, Under string
	}
	for _, bad := range eval[[]text](b, `(() => {%s
		const under = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\)$|transparent/.test(c)) return c; } return '#ffffff'; };
		const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), out = [];
		for (let n = walk.nextNode(); n; n = walk.nextNode()) {
			const e = n.parentElement;
			if (!n.textContent.trim() || !e.checkVisibility() || e.closest('script, option')) continue;
			const color = getComputedStyle(e).color, ground = under(e);
			out.push({ contrast: contrast(color, ground), text: n.textContent.trim().slice(0, 40), color, under: ground });
		}
		return out.filter((o) => o.contrast < 4.5);
	})()`, scripts) {
		t.Errorf("%+v: %+v", w, bad)
	}
}

// TestWords checks that no word is broken that fits in a line of its own.
func TestWords(t *testing.T) {
	tr := testtrace.RecordTimes(t, testtrace.Series, waiting())
	path := file(t, tr, report.Options{Name: "a_trace_of_a_program_with_a_long_name.rpz", Bytes: 1234})
	for _, w := range []window{telephone, {width: 390, height: 800, phone: true}, desktop,
		{width: 2560, height: 1200}} {
		b := open(t, path, w)
		if got := eval[int64](b, "document.documentElement.scrollWidth"); got > w.width {
			t.Errorf("the page is %d wide in a window of %d", got, w.width)
		}
		for _, bad := range eval[[]string](b, `(() => {
			const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), out = [];
			for (let n = walk.nextNode(); n; n = walk.nextNode()) {
				if (!n.parentElement.checkVisibility() || n.parentElement.closest('script, option')) continue;
				for (const m of n.textContent.matchAll(/[^\s]+/g)) {
					const range = document.createRange();
					range.setStart(n, m.index);
					range.setEnd(n, m.index + m[0].length);
					const lines = new Set([...range.getClientRects()].map((r) => Math.round(r.top)));
					let block = n.parentElement;
					while (getComputedStyle(block).display === 'inline') block = block.parentElement;
					const width = [...range.getClientRects()].reduce((sum, r) => sum + r.width, 0);
					if (lines.size > 1 && width < block.clientWidth - 2 && !/[-–(),/]/.test(m[0])) out.push(m[0]);
				}
			}
			return out;
		})()`) {
			t.Errorf("in a window of %d, %q is broken", w.width, bad)
		}
	}
}

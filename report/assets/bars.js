// Bar charts.

class Bars {
  // Bars are drawn of what options returns: names, values or parts of these that are
  // stacked, how to write them, and whether they lie.
  constructor(figure, page, options) {
    Object.assign(this, { figure, page, options });
  }

  start(element) {
    const o = this.options();
    if (o.lying) element.style.height = `${o.names.length * 24 + 34}px`;
    this.element = element;
    this.chart = echarts.init(element, null, { renderer: 'canvas' });
    for (const button of this.figure.querySelectorAll('[data-of]')) {
      button.addEventListener('click', () => {
        this.figure.dataset.of = button.dataset.of;
        this.draw();
      });
    }
    if (o.choose) {
      this.chart.getZr().on('click', (e) => {
        const [i] = this.chart.convertFromPixel('grid', [e.offsetX, e.offsetY]);
        if (i >= 0 && i < o.names.length) this.options().choose(Math.round(i));
      });
    }
    this.draw();
  }

  draw() {
    const o = this.options(), { theme } = this.page, phone = this.element.clientWidth < 600;
    const lying = Boolean(o.lying);
    const names = {
      type: 'category', data: o.names, inverse: lying, name: lying ? '' : o.what, nameLocation: 'middle', nameGap: 30,
      nameTextStyle: { color: theme.quiet, fontSize: 12 },
      axisTick: { show: false }, axisLine: { lineStyle: { color: theme.line } },
      axisLabel: { color: theme.quiet, hideOverlap: true, ...(lying ? { width: phone ? 110 : 190, overflow: 'truncate', interval: 0 } : {}) },
    };
    const values = {
      type: 'value', splitNumber: phone ? 3 : 5, axisLine: { show: false }, axisTick: { show: false },
      splitLine: { lineStyle: { color: theme.line, width: 1 } },
      axisLabel: { color: theme.quiet, formatter: (v) => (v === 0 ? '0' : trimmed(o.axis(v))), hideOverlap: true },
      min: 0,
    };
    this.chart.setOption({
      animation: false,
      textStyle: { fontFamily: theme.font },
      grid: lying ? { left: phone ? 120 : 204, right: 24, top: 2, bottom: 26 } : { left: phone ? 60 : 74, right: 8, top: 10, bottom: 48 },
      tooltip: {
        trigger: 'axis', axisPointer: { type: 'shadow', shadowStyle: { color: theme.shadow } }, confine: true, padding: 0, borderWidth: 0,
        backgroundColor: 'transparent', extraCssText: 'box-shadow: none',
        formatter: (p) => this.page.tipBox(o.tell(p[0].dataIndex)),
      },
      xAxis: lying ? values : names,
      yAxis: lying ? names : values,
      series: (o.parts || [{ values: o.values, color: theme.bar }]).map((part) => ({
        type: 'bar', data: part.values, stack: o.parts ? 'all' : undefined, barCategoryGap: o.names.length > 40 ? '8%' : '28%', barMaxWidth: 42,
        itemStyle: { color: part.color, borderRadius: o.parts ? 0 : lying ? [0, 2, 2, 0] : [2, 2, 0, 0] },
      })),
    }, { notMerge: true });
    if (o.parts) this.page.legend(this.figure.querySelector('.legend'), o.parts);
    for (const button of this.figure.querySelectorAll('[data-of]')) button.setAttribute('aria-pressed', button.dataset.of === this.figure.dataset.of);
  }

  resize() {
    this.chart.resize();
    this.draw();
  }
}

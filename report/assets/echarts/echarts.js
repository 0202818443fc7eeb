// The charts and components of Apache ECharts that report.js uses.
import { use, init, graphic } from 'echarts/core';
import { BarChart, HeatmapChart, CustomChart } from 'echarts/charts';
import { GridComponent, TooltipComponent, VisualMapContinuousComponent, AriaComponent } from 'echarts/components';
import { CanvasRenderer } from 'echarts/renderers';

use([BarChart, HeatmapChart, CustomChart, GridComponent, TooltipComponent, VisualMapContinuousComponent, AriaComponent, CanvasRenderer]);

export { init, graphic };
export { version } from 'echarts/core';

import { markControls } from './terminal-text.ts';

type LoggedLine = Readonly<Record<string, unknown>>;

// Shown in a form of their own, or only of use where programs collect the lines of many processes.
const ownFields = new Set(['level', 'time', 'pid', 'msg', 'stack']);

/**
 * A log line for people at a terminal: `10:18:00  201 POST /items  12.3 ms`, or
 * `10:18:00  warning: the queue is full  queue=mail`. Its time is that of the terminal.
 *
 * @param json a line as pino writes it, with allowed fields only
 * @param omitted further fields that are not shown
 */
export function terminalLine(json: string, omitted: ReadonlySet<string>): string {
  const line = JSON.parse(json) as LoggedLine;
  const time = new Date(String(line['time'])).toTimeString().slice(0, 'hh:mm:ss'.length);
  const message = line['msg'] === 'request' ? requestText(line) : messageText(line, omitted);
  const stack = typeof line['stack'] === 'string' ? `${line['stack']}\n` : '';
  return markControls(`${time}  ${message}\n${stack}`);
}

function requestText(line: LoggedLine): string {
  const { method, route, status, duration_ms: durationMs } = line;
  return `${String(status)} ${String(method)} ${String(route)}  ${String(durationMs)} ms`;
}

function messageText(line: LoggedLine, omitted: ReadonlySet<string>): string {
  const levels: Readonly<Record<string, string>> = { warn: 'warning: ', error: 'error: ', debug: 'debug: ' };
  const fields = Object.entries(line).filter(([name]) => !ownFields.has(name) && !omitted.has(name));
  const words = fields.map(([name, value]) => `${name}=${typeof value === 'string' ? quoted(value) : String(value)}`);
  return [`${levels[String(line['level'])] ?? ''}${String(line['msg'])}`, ...words].join('  ');
}

function quoted(text: string): string {
  return /^\S+$/.test(text) ? text : JSON.stringify(text);
}

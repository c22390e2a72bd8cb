import { markControls } from './terminal-text.ts';

type LoggedLine = Readonly<Record<string, unknown>>;

// Left out for people: they tell processes and requests apart when programs collect the lines of many.
const omittedFields = new Set(['level', 'time', 'pid', 'msg', 'stack', 'request_id', 'merchant_id']);

/**
 * A log line for people at a terminal: `10:18:00  201 POST /items  12.3 ms`, or
 * `10:18:00  warning: the queue is full  queue=mail`. Its time is that of the terminal.
 *
 * @param json a line as pino writes it, with allowed fields only
 */
export function terminalLine(json: string): string {
  const line = JSON.parse(json) as LoggedLine;
  const time = new Date(String(line['time'])).toTimeString().slice(0, 'hh:mm:ss'.length);
  const message = line['msg'] === 'request' ? requestText(line) : messageText(line);
  const stack = typeof line['stack'] === 'string' ? `${line['stack']}\n` : '';
  return markControls(`${time}  ${message}\n${stack}`);
}

function requestText(line: LoggedLine): string {
  const { method, route, status, duration_ms: durationMs } = line;
  return `${String(status)} ${String(method)} ${String(route)}  ${String(durationMs)} ms`;
}

function messageText(line: LoggedLine): string {
  const levels: Readonly<Record<string, string>> = { warn: 'warning: ', error: 'error: ', debug: 'debug: ' };
  const fields = Object.entries(line).filter(([name]) => !omittedFields.has(name));
  const words = fields.map(([name, value]) => `${name}=${typeof value === 'string' ? quoted(value) : String(value)}`);
  return [`${levels[String(line['level'])] ?? ''}${String(line['msg'])}`, ...words].join('  ');
}

function quoted(text: string): string {
  return /^\S+$/.test(text) ? text : JSON.stringify(text);
}

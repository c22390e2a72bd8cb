import PdfDocument from 'pdfkit';
import type { PageSize } from './sizes.ts';
import type { Drawing, Shape } from './shapes.ts';

/** One page of vector shapes. The QR code is also a link. */
export async function writePdf(
  drawing: Drawing,
  { widthPoints, heightPoints }: PageSize,
  about: { title: string; link: string },
): Promise<Uint8Array> {
  const pdf = new PdfDocument({
    size: [widthPoints, heightPoints],
    margin: 0,
    info: { Title: about.title },
    // All text is outlines, so no font is embedded.
    font: null as unknown as string,
  });
  const parts: Buffer[] = [];
  pdf.on('data', (part: Buffer) => parts.push(part));
  const ended = new Promise<void>((resolve, reject) => {
    pdf.on('end', resolve);
    pdf.on('error', reject);
  });
  pdf.scale(widthPoints / drawing.width, heightPoints / drawing.height);
  for (const shape of drawing.shapes) draw(pdf, shape);
  const { x, y, width, height } = drawing.qrCode;
  pdf.link(x, y, width, height, about.link);
  pdf.end();
  await ended;
  return Buffer.concat(parts);
}

function draw(pdf: InstanceType<typeof PdfDocument>, shape: Shape): void {
  if (shape.kind === 'path') {
    pdf.path(shape.path).fill(shape.fill);
    return;
  }
  const { x, y, width, height } = shape.area;
  pdf.image(Buffer.from(shape.png), x, y, { fit: [width, height], align: 'center', valign: 'center' });
}

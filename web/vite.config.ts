// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';

export default defineConfig({
  plugins: [viteSingleFile()],
  build: { target: 'es2022', reportCompressedSize: false, modulePreload: false },
});

#include "tests/gui_core/color_distance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace hbmscope::test {
namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

Triple times(const Matrix& matrix, const Triple& vector) {
  Triple result{};
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 3; ++column) result[row] += matrix[row][column] * vector[column];
  return result;
}

double linear(double channel) {
  return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

constexpr Matrix normal{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix protan{
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix deutan{
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix tritan{
    {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}};

const Matrix& matrix_of(Vision vision) {
  switch (vision) {
    case Vision::protan: return protan;
    case Vision::deutan: return deutan;
    case Vision::tritan: return tritan;
    case Vision::normal: break;
  }
  return normal;
}

double radians(double degrees) {
  return degrees * std::numbers::pi / 180;
}

double hue_degrees(double a, double b) {
  if (a == 0 && b == 0) return 0;
  const double degrees = std::atan2(b, a) * 180 / std::numbers::pi;
  return degrees < 0 ? degrees + 360 : degrees;
}

}  // namespace

Lab lab_seen_by(Vision vision, gui::Color color) {
  Triple rgb{linear(color.red / 255.0), linear(color.green / 255.0), linear(color.blue / 255.0)};
  rgb = times(matrix_of(vision), rgb);
  for (double& channel : rgb) channel = std::clamp(channel, 0.0, 1.0);
  constexpr Matrix xyz_from_rgb{
      {{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}}};
  Triple xyz = times(xyz_from_rgb, rgb);
  constexpr Triple white{0.95047, 1.0, 1.08883};
  for (std::size_t i = 0; i < 3; ++i) {
    const double ratio = xyz[i] / white[i];
    xyz[i] = ratio > 216.0 / 24389 ? std::cbrt(ratio) : (24389.0 / 27 * ratio + 16) / 116;
  }
  return {116 * xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])};
}

double ciede2000(const Lab& first, const Lab& second) {
  const double chroma_mean = (std::hypot(first.a, first.b) + std::hypot(second.a, second.b)) / 2;
  const double power = std::pow(chroma_mean, 7);
  const double stretch = 1 + 0.5 * (1 - std::sqrt(power / (power + std::pow(25.0, 7))));
  const double a1 = first.a * stretch, a2 = second.a * stretch;
  const double c1 = std::hypot(a1, first.b), c2 = std::hypot(a2, second.b);
  const double h1 = hue_degrees(a1, first.b), h2 = hue_degrees(a2, second.b);

  double hue_difference = 0, hue_mean = h1 + h2;
  if (c1 * c2 != 0) {
    hue_difference = h2 - h1;
    if (hue_difference > 180) hue_difference -= 360;
    if (hue_difference < -180) hue_difference += 360;
    if (std::abs(h1 - h2) > 180) hue_mean += h1 + h2 < 360 ? 360 : -360;
    hue_mean /= 2;
  }
  const double dl = second.l - first.l, dc = c2 - c1;
  const double dh = 2 * std::sqrt(c1 * c2) * std::sin(radians(hue_difference / 2));
  const double l_mean = (first.l + second.l) / 2, c_mean = (c1 + c2) / 2;
  const double t = 1 - 0.17 * std::cos(radians(hue_mean - 30)) + 0.24 * std::cos(radians(2 * hue_mean)) +
                   0.32 * std::cos(radians(3 * hue_mean + 6)) - 0.20 * std::cos(radians(4 * hue_mean - 63));
  const double around_blue = 30 * std::exp(-std::pow((hue_mean - 275) / 25, 2));
  const double c7 = std::pow(c_mean, 7);
  const double rotation = -2 * std::sqrt(c7 / (c7 + std::pow(25.0, 7))) * std::sin(radians(2 * around_blue));
  const double l50 = (l_mean - 50) * (l_mean - 50);
  const double sl = 1 + 0.015 * l50 / std::sqrt(20 + l50), sc = 1 + 0.045 * c_mean, sh = 1 + 0.015 * c_mean * t;
  return std::sqrt(std::pow(dl / sl, 2) + std::pow(dc / sc, 2) + std::pow(dh / sh, 2) +
                   rotation * (dc / sc) * (dh / sh));
}

}  // namespace hbmscope::test

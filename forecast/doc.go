// Package forecast answers when a figure of a service, such as its requests per second,
// reaches a limit, such as its knee.
//
// A history consists of points: from a CSV file (ReadCSV), from Prometheus (Query), or
// from elsewhere. Regular puts them on a regular grid, without duplicates and with gaps as
// gaps. Ask finds the seasons of the grid, forecasts with stat/forecast, and says when the
// limit is first reached, with the interval; Text, Markdown and JSON write the Answer.
//
// Input is bounded: a file by its size and points, a reply of Prometheus by its bytes. A
// history that is too short for an answer gives an error that wraps ErrShort of
// stat/forecast.
//
// Times are UTC: a season of a day begins at midnight UTC, and dates are those of UTC.
package forecast

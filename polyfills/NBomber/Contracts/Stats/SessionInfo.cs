namespace NBomber.Contracts.Stats;

public enum ReportFormat
{
    Txt = 0,
    Html = 1,
    Csv = 2,
    Md = 3,
}

public enum OperationType
{
    None = 0,
    Init = 1,
    WarmUp = 2,
    Bombing = 3,
    Stop = 4,
    Complete = 5,
    Error = 6,
}

public sealed class TestInfo
{
    public string SessionId { get; set; } = "";

    public string TestSuite { get; set; } = "";

    public string TestName { get; set; } = "";

    public string ClusterId { get; set; } = "";

    public DateTime Created { get; set; }
}

public sealed class NodeInfo
{
    public string MachineName { get; set; } = "";

    public OperationType CurrentOperation { get; set; }

    public string OS { get; set; } = "";

    public string DotNetVersion { get; set; } = "";

    public string Processor { get; set; } = "";

    public int CoresCount { get; set; }

    public string NBomberVersion { get; set; } = "";
}

public sealed class ReportFile
{
    public string FilePath { get; set; } = "";

    public ReportFormat ReportFormat { get; set; }

    public string ReportContent { get; set; } = "";
}
